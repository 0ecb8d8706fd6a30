// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/lost_numbers.h"

#include <algorithm>

namespace ubt {

LostNumbers::LostNumbers(SessionState* session)
    : session_(session),
      dues_(session->setup.size),
      datagramBytes_(session->setup.slotBytesMax + PacketHeader::kBytes) {}

void LostNumbers::sized(size_t bytes) {
  datagramBytes_ += (static_cast<double>(bytes) - datagramBytes_) * kWeight;
}

void LostNumbers::arrived(TimePoint now,
                          int peer,
                          uint64_t number,
                          size_t bytes) {
  sized(bytes);
  if (session_->peers[peer].losses.arrived(now, number)) {
    session_->shared->window.overtaken(bytes);
  }
  find(now, peer);
}

void LostNumbers::used(TimePoint now, int rank, uint64_t next) {
  PeerLink& peer = session_->peers[rank];
  if (next <= peer.receive.next()) {
    return;
  }
  peer.receive.usedBelow(next);
  peer.losses.used(now, std::min(next, peer.receive.limit()));
  find(now, rank);
}

void LostNumbers::multicastArrived(uint64_t skipped, size_t bytes) {
  sized(bytes);
  multicastSkipped(skipped);
}

void LostNumbers::multicastSkipped(uint64_t count) {
  if (count > 0) {  // multicast has no trains
    session_->shared->window.lost(bytesOf(count), count);
  }
}

void LostNumbers::find(TimePoint now, int peer) {
  LossDetector& losses = session_->peers[peer].losses;
  if (!losses.hasGaps()) {
    dues_.set(peer, kNever);
    return;
  }
  const Duration after = session_->lossAfter(now, peer);
  losses.collect(
      now, after, [&](uint64_t first, uint64_t count, uint64_t before) {
        report(now, peer, first, count, before);
      });
  dues_.set(peer, losses.nextDeadline(after));
}

// `count` numbers from `first` on have become lost. `before`: the number of
// lost ones just before these.
void LostNumbers::report(
    TimePoint now, int peer, uint64_t first, uint64_t count, uint64_t before) {
  const uint64_t train = session_->trainBytes(now);
  const auto trainsOf = [&](uint64_t slots) {
    return (bytesOf(slots) + train - 1) / train;
  };
  session_->shared->trains.shorten(now);
  session_->shared->window.lost(bytesOf(count),
                                trainsOf(before + count) - trainsOf(before));
  if (session_->setup.options.tellsLosses()) {
    ControlRecord record;
    record.type = ControlType::kLost;
    record.number = first;
    record.slots = static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX));
    session_->control(now, peer, record, true);
  }
}

void LostNumbers::reportIn(TimePoint now,
                           int peer,
                           const ControlRecord& record) {
  session_->shared->trains.shorten(now);
  session_->peers[peer].sent.find(
      record.number, record.slots, [&](const SentHistory::Run& run) {
        if (Op* const op = session_->ops.find(run.op); op != nullptr) {
          op->lostByPeer(now, peer, run.stage, run.slot, run.slots);
        }
      });
}

}  // namespace ubt
