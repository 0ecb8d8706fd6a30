// SPDX-License-Identifier: Apache-2.0
//
// What a session learns of its ops, tells its peers, and makes of what they
// tell.

#include <algorithm>
#include <cmath>
#include <sstream>

#include "transport_ubt/core/session/session.h"

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
  return classesOf(shape.hierarchical())
      .boundsFor(shape, {late, shared_->link.limits()}, limit);
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

void Session::haltIfDue() {
  if (!halt_.due() || departure_.hasFailed()) {
    return;
  }
  std::ostringstream why;
  why << "halted: on average of the last ops, "
      << std::lround(100 * halt_.loss())
      << " % of what others should bring to this rank's sums was missing, and "
         "training would go nowhere: look for ranks that are late and for a "
         "network that loses packets (their reports say which), "
      << (setup_.options.boundScatter > Duration{0}
              ? "for a GLOO_UBT_BOUND that is too short, "
              : "")
      << "or set GLOO_UBT_HALT_LOSS higher (0: never)";
  halt(why.str());
}

// Ranks learn from each other how long stages take, and whether to transform.
void Session::learnFrom(const OpSample& op, const OpReport& report) {
  if (!op.warmup && report.pairsExpected > 0) {
    transform_.returned(op.scatter.loss + op.broadcast.loss, op.bytes);
    const double others = static_cast<double>(setup_.size - 1) / setup_.size;
    // Of what an owner zeroed its own contribution is missing, too.
    halt_.returned(
        std::min(1.0,
                 static_cast<double>(report.pairsMissing) /
                     (others * static_cast<double>(report.pairsExpected))));
    haltIfDue();
  }
  const auto microseconds = [](Duration took) {
    return static_cast<uint32_t>(std::min<int64_t>(
        took / std::chrono::microseconds(1), kNobodyTakesLongerUs));
  };
  const bool hierarchical = op.hierarchical;
  const SizeClasses::Sample took =
      classesOf(hierarchical).returned(setup_.rank, op);
  ControlRecord record;
  record.type = ControlType::kTookStage;
  record.sizeClass = static_cast<uint8_t>(
      SizeClasses::of(op.bytes) | (hierarchical ? SizeClasses::kClasses : 0));
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

void Session::tookStage(int peer, const ControlRecord& record) {
  const bool hierarchical = (record.sizeClass & SizeClasses::kClasses) != 0;
  if (record.sizeClass < 2 * SizeClasses::kClasses) {
    classesOf(hierarchical)
        .sample(peer,
                record.sizeClass % SizeClasses::kClasses,
                {std::chrono::microseconds(record.scatterUs),
                 std::chrono::microseconds(record.broadcastUs)});
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
