// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/stage_run.h"

#include <algorithm>

namespace ubt {

StageRun::StageRun(int ranks)
    : repairs(ranks), senders_(ranks), progress_(ranks) {}

void StageRun::expect(int rank, uint32_t slots, uint64_t bytes) {
  senders_[rank].bytes.expected = bytes;
  progress_.expect(rank, slots);
}

void StageRun::arrived(TimePoint now, int rank, const Arrival& arrival) {
  StageBytes& bytes = senders_[rank].bytes;
  bytes.received += arrival.bytes;
  bytes.repaired += arrival.repair ? arrival.bytes : 0;
  progress_.arrived(now, rank, arrival.marked);
}

BitSet& StageRun::turnedAway(int rank, uint32_t slots) {
  BitSet& marks = senders_[rank].turnedAway;
  if (marks.size() == 0) {
    marks = BitSet(slots);
  }
  return marks;
}

bool StageRun::turnAway(int rank, uint32_t slot, uint32_t slots) {
  return turnedAway(rank, slots).set(slot);
}

void StageRun::acceptTurnedAway(int rank, uint32_t slot) {
  BitSet& marks = senders_[rank].turnedAway;
  if (marks.size() > 0) {
    marks.clear(slot);
  }
}

bool StageRun::lose(
    TimePoint now, int rank, uint32_t slot, uint32_t slots, size_t bytes) {
  Sender& sender = senders_[rank];
  if (sender.lost.size() == 0) {
    sender.lost = BitSet(slots);
  }
  if (progress_.owed(rank) == 0 ||
      (sender.turnedAway.size() > 0 && sender.turnedAway.test(slot)) ||
      !sender.lost.set(slot)) {
    return false;
  }
  sender.lostBytes += bytes;
  progress_.lost(now, rank);
  return true;
}

bool StageRun::find(int rank, uint32_t slot, size_t bytes) {
  Sender& sender = senders_[rank];
  if (sender.lost.size() == 0 || !sender.lost.clear(slot)) {
    return false;
  }
  sender.lostBytes -= bytes;
  progress_.found(rank);
  return true;
}

void StageRun::dropped(int rank, uint64_t bytes) {
  StageBytes& of = senders_[rank].bytes;
  of.received -= bytes;
  of.repaired = std::min(of.repaired, of.received);
}

void StageRun::countLate(int rank, uint32_t slot, size_t bytes) {
  Sender& sender = senders_[rank];
  StageBytes& of = sender.bytes;
  const bool lost = sender.lost.size() > 0 && sender.lost.clear(slot);
  if (!sender.settled) {
    of.late += bytes;
    sender.lostBytes -= lost ? bytes : 0;
    return;
  }
  uint64_t& missing = lost || of.cut == 0 ? of.lost : of.cut;
  const uint64_t moved = std::min<uint64_t>(bytes, missing);
  missing -= moved;
  of.late += moved;
}

void StageRun::settle(int rank, uint64_t notStoredBytes, Cause cause) {
  senders_[rank].settled = true;
  StageBytes& bytes = senders_[rank].bytes;
  bytes.refused = notStoredBytes - bytes.late;
  const uint64_t missing =
      bytes.expected - bytes.received - bytes.late - bytes.refused;
  bytes.lost = std::min(missing, senders_[rank].lostBytes);
  uint64_t& rest = cause == Cause::kAbsent ? bytes.absent
                   : cause == Cause::kCut  ? bytes.cut
                                           : bytes.lost;
  rest += missing - bytes.lost;
}

double StageRun::lostShare() const {
  uint64_t lost = 0;
  uint64_t expected = 0;
  for (const Sender& sender : senders_) {
    if (sender.bytes.received > 0) {
      lost += sender.bytes.lost;
      expected += sender.bytes.expected;
    }
  }
  return expected == 0 ? 0 : static_cast<double>(lost) / expected;
}

}  // namespace ubt
