// SPDX-License-Identifier: Apache-2.0
//
// What a session makes of what it has learned, and how a job halts.

#include <algorithm>
#include <optional>

#include "transport_ubt/core/session/session.h"

namespace ubt {

// A stage is as late as the latest rank it needs: what is late anywhere counts.
OpBounds Session::boundsFor(TimePoint now,
                            const OpShape& shape,
                            Duration limit) {
  Duration late = shared_->lateness.worst(now);
  for (const PeerLink& peer : peers_) {
    if (!peer.closed()) {
      late = std::max(late, peer.late(now));
    }
  }
  return learning_.boundsFor(shape, {late, shared_->link.limits()}, limit);
}

// Every packet carries it on. What has begun ends by its bound, but what has
// none would wait for ranks that no longer come.
void Session::halt(const std::string& why) {
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
      peers_[peer].creditBy(lastNow_);
    }
  }
}

void Session::learnFrom(const OpSample& op, const OpReport& report) {
  std::optional<double> missing;
  if (!op.warmup && report.pairsExpected > 0) {
    const double others = static_cast<double>(setup_.size - 1) / setup_.size;
    // Of what an owner zeroed its own contribution is missing, too.
    missing =
        std::min(1.0,
                 static_cast<double>(report.pairsMissing) /
                     (others * static_cast<double>(report.pairsExpected)));
  }
  const ControlRecord record = learning_.returned(op, missing);
  if (missing && learning_.haltDue() && !departure_.hasFailed()) {
    halt(learning_.whyHalt());
  }
  for (int peer = 0; peer < setup_.size; peer++) {
    if (peer != setup_.rank) {
      peers_[peer].wish = learning_.wish();
      control(peer, record, false);
    }
  }
}

// What one rank loses of a result is lost of all shards.
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
