// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/bit_set.h"
#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/retries.h"
#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/core/op/stage_progress.h"

namespace ubt {

// One stage of an op at its receiver: which slots each sender owes, when the
// stage asks for them again, and which arrived. An op has up to three stages:
// scatter, exchange, broadcast. The op decides when a stage ends. Not
// thread-safe.
class StageRun {
 public:
  // `ranks`: of the op; each of them may send.
  explicit StageRun(int ranks);

  static constexpr size_t bytesPerRank() { return sizeof(Sender); }

  // The rank owes this number of slots, with `bytes` in all. Called once for
  // each rank that owes any, before the first slot arrives.
  void expect(int rank, uint32_t slots, uint64_t bytes);

  // The fate of a rank's bytes. Before settle(), only received, repaired and
  // late ones are counted.
  const StageBytes& bytes(int rank) const { return senders_[rank].bytes; }
  const StageProgress& progress() const { return progress_; }

  // When to ask each rank for its missing slots again.
  Retries repairs;

  // Slots --------------------------------------------------------------------

  struct Arrival {
    size_t bytes = 0;
    bool repair = false;
    bool marked = false;  // as one of the sender's last slots
  };
  // A slot has arrived for the first time, and was stored.
  void arrived(TimePoint now, int rank, const Arrival& arrival);
  // A slot arrived and was not stored. `slots`: the rank's number of slots.
  // False: the same slot was turned away before.
  bool turnAway(int rank, uint32_t slot, uint32_t slots);
  bool anyTurnedAway(int rank) const {
    return !senders_[rank].turnedAway.none();
  }
  // A slot that had been turned away was stored after all.
  void acceptTurnedAway(int rank, uint32_t slot);
  // The slots of a rank that were turned away. The second form may be changed,
  // and has `slots` bits.
  const BitSet& turnedAway(int rank) const { return senders_[rank].turnedAway; }
  BitSet& turnedAway(int rank, uint32_t slots);
  // Stored slots of the rank were dropped to make room.
  void dropped(int rank, uint64_t bytes);

  // A slot was lost on its way and will not come. `slots`: the rank's number of
  // slots; `bytes`: of the slot. False: that was known, the slot was turned
  // away, or the rank owes nothing more.
  bool lose(
      TimePoint now, int rank, uint32_t slot, uint32_t slots, size_t bytes);
  // A slot is about to be stored. If it counted as lost, the rank owes it
  // again. False: it did not.
  bool find(int rank, uint32_t slot, size_t bytes);

  // A slot arrived after it had closed, and was turned away for the first time.
  // After settle(), bytes that count as cut or lost become late; those of an
  // absent rank stay absent.
  void countLate(int rank, uint32_t slot, size_t bytes);

  // No further slot of the rank will be stored. `notStoredBytes` arrived, and
  // were refused or late. Missing bytes of lost slots count as lost, and
  // `cause` is that of the others.
  enum class Cause : uint8_t { kLost, kAbsent, kCut };
  void settle(int rank, uint64_t notStoredBytes, Cause cause);
  // The share of bytes that the network lost. Senders from which nothing came
  // do not count.
  double lostShare() const;

  // The rank says that nothing more of it is on its way. False: that was clear
  // from the marks of its last slots, or it owes nothing.
  bool end(TimePoint now, int rank) { return progress_.end(now, rank); }

  // Its end ------------------------------------------------------------------

  // The duration of a complete exchange; zero: it was not complete.
  Duration took{0};
  // When the stage stopped waiting.
  TimePoint closedAt{};
  bool expired = false;   // before all slots had arrived
  bool toldHalf = false;  // others know that half of the senders are complete

 private:
  struct Sender {
    StageBytes bytes;
    BitSet turnedAway;  // sized on first use
    BitSet lost;        // sized on first use
    uint64_t lostBytes = 0;
    bool settled = false;
  };

  std::vector<Sender> senders_;  // by rank
  StageProgress progress_;
};

}  // namespace ubt
