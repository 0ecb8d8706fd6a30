// SPDX-License-Identifier: Apache-2.0
//
// How a session uses its Learning, and halts a job.

#include <algorithm>
#include <optional>

#include "transport_ubt/core/session/session.h"

namespace ubt {

// Every packet carries the halt on. Bounded ops that have begun go on: they may
// still end, or they fail once a rank leaves. Warm-up ops would wait for ranks
// that no longer enter.
void Session::halt(TimePoint now, const std::string& why) {
  departure_.fail(why);
  for (auto& [id, op] : ops_) {
    if (op->warmup()) {
      op->giveUp(failure());
    }
  }
  multicast_.halt();
  for (int peer = 0; peer < setup_.size; peer++) {
    peers_[peer].halted = true;
    if (peer != setup_.rank) {
      peers_[peer].creditBy(now);
    }
  }
}

void Session::learnFrom(TimePoint now,
                        const OpSample& op,
                        const OpReport& report) {
  std::optional<double> missing;
  if (!op.warmup && report.pairsExpected > 0) {
    const double others = static_cast<double>(setup_.size - 1) / setup_.size;
    // An owner that zeroed slots also lacks its own contribution: 1 at most.
    missing =
        std::min(1.0,
                 static_cast<double>(report.pairsMissing) /
                     (others * static_cast<double>(report.pairsExpected)));
  }
  learning_.returned(op, missing);
  if (incast_) {
    incast_->returned(op.missing(), op.expired());
  }
  if (missing && learning_.haltDue() && !departure_.hasFailed()) {
    halt(now, learning_.whyHalt());
  }
  for (int peer = 0; peer < setup_.size; peer++) {
    if (peer != setup_.rank) {
      peers_[peer].wish = learning_.wish();
    }
  }
}

// If one rank wants the transform, all ranks transform: a rank loses results of
// all owners.
Form Session::contributionForm() const {
  const bool wanted =
      learning_.wish() == Form::kTransformed ||
      std::any_of(peers_.begin(), peers_.end(), [](const PeerLink& peer) {
        return peer.peerWish == Form::kTransformed;
      });
  return wanted && setup_.options.hadamard != Hadamard::kNever
             ? Form::kTransformed
             : Form::kPlain;
}

}  // namespace ubt
