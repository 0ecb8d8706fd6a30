// SPDX-License-Identifier: Apache-2.0
//
// How a session uses its Learning, and halts a job.

#include <algorithm>
#include <optional>

#include "transport_ubt/core/session/session.h"

namespace ubt {

// Every unicast packet carries the halt on. Bounded ops that have begun go on:
// they may still end, or they fail once a rank leaves. Warm-up ops would wait
// for ranks that no longer enter.
void Session::halt(TimePoint now, const std::string& why) {
  departure_.fail(why);
  for (auto& [id, op] : state_.ops) {
    if (op->isExact()) {
      op->giveUp(failure());
    }
  }
  for (int peer = 0; peer < state_.setup.size; peer++) {
    state_.peers[peer].halted = true;
    if (peer != state_.setup.rank) {
      state_.peers[peer].creditBy(now);
    }
  }
}

void Session::learnFrom(TimePoint now,
                        const OpSample& op,
                        const OpReport& report) {
  std::optional<double> missing;
  if (!op.warmup && report.pairsExpected > 0) {
    const double others =
        static_cast<double>(state_.setup.size - 1) / state_.setup.size;
    // An owner that zeroed slots also lacks its own contribution: 1 at most.
    missing =
        std::min(1.0,
                 static_cast<double>(report.pairsMissing) /
                     (others * static_cast<double>(report.pairsExpected)));
  }
  learning_.returned(op, missing);
  credit_.opReturned(op);
  if (missing && learning_.haltDue() && !departure_.hasFailed()) {
    halt(now, learning_.whyHalt());
  }
  for (int peer = 0; peer < state_.setup.size; peer++) {
    if (peer != state_.setup.rank) {
      state_.peers[peer].wish = learning_.wish();
    }
  }
}

// If one rank wants the transform, all ranks transform: a rank loses results of
// all owners.
Form Session::contributionForm() const {
  const bool wanted =
      learning_.wish() == Form::kTransformed ||
      std::any_of(
          state_.peers.begin(), state_.peers.end(), [](const PeerLink& peer) {
            return peer.peerWish == Form::kTransformed;
          });
  return wanted && state_.setup.options.hadamard != Hadamard::kNever
             ? Form::kTransformed
             : Form::kPlain;
}

}  // namespace ubt
