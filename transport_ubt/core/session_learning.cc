// SPDX-License-Identifier: Apache-2.0
//
// What a session learns of its ops, tells its peers, and makes of what they
// tell.

#include <algorithm>

#include "transport_ubt/core/session.h"

namespace ubt {
namespace {

// Times travel in 32 bits.
constexpr int64_t kNobodyTakesLongerUs = UINT32_MAX;

}  // namespace

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
  return classes_.boundsFor(shape, late, limit);
}

// Ranks learn from each other how long stages take, and whether to transform.
void Session::learnFrom(const Op& op) {
  if (!op.warmup()) {
    transform_.returned(op.scatterLoss() + op.broadcastLoss(),
                        op.shape().bytes());
  }
  const auto microseconds = [](Duration took) {
    return static_cast<uint32_t>(std::min<int64_t>(
        took / std::chrono::microseconds(1), kNobodyTakesLongerUs));
  };
  const SizeClasses::Sample took = classes_.returned(setup_.rank, op);
  ControlRecord record;
  record.type = ControlType::kTookStage;
  record.sizeClass = SizeClasses::of(op.shape().bytes());
  record.scatterUs = microseconds(took.scatter);
  record.broadcastUs = microseconds(took.broadcast);
  for (int peer = 0; peer < setup_.size; peer++) {
    if (peer != setup_.rank) {
      peers_[peer].wish =
          transform_.wanted() ? Form::kTransformed : Form::kPlain;
      control(peer, record, false);
    }
  }
}

// What one rank loses of a result is lost of all shards.
Form Session::contributionForm() const {
  const bool wanted =
      transform_.wanted() ||
      std::any_of(peers_.begin(), peers_.end(), [](const PeerLink& peer) {
        return peer.peerWish == Form::kTransformed;
      });
  return wanted && setup_.options.hadamard != Hadamard::kNever
             ? Form::kTransformed
             : Form::kPlain;
}

}  // namespace ubt
