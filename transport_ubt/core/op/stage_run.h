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

// What a stage missed, for the loops that learn from it. A rank of which
// nothing came at all was late itself, most likely: that says nothing of the
// network.
struct StageLoss {
  uint64_t missing = 0;
  uint64_t late = 0;  // of the missing
  uint64_t expected = 0;

  // Shares of the expected, 0 to 1.
  double share() const { return of(missing); }
  // Of what came late, if that is most of what was missing.
  double haste() const { return 2 * late > missing ? of(late) : 0; }

 private:
  double of(uint64_t bytes) const {
    return expected == 0 ? 0 : static_cast<double>(bytes) / expected;
  }
};

// One stage of an op at its receiver: who owes what, until when it is waited
// for, when it is asked for again, and what became of it. An op has up to
// three: scatter, exchange, broadcast. What ends a stage is the op's to know.
class StageRun {
 public:
  // Of an op of so many ranks, any of which may send. Without `marks` those of
  // the last slots are not heeded.
  StageRun(int ranks, bool marks);

  static constexpr size_t bytesPerRank() { return sizeof(Sender); }

  // The rank owes so many slots, which have so many bytes together. Once for
  // each rank that owes any, before the first slot arrives.
  void expect(int rank, uint32_t slots, uint64_t bytes);

  // What of a rank's slots came, and what became of the others. The latter only
  // once it is settled.
  const StageBytes& bytes(int rank) const { return senders_[rank].bytes; }
  const StageProgress& progress() const { return progress_; }

  // Until when it is waited for; kNever: not for lack of time.
  TimePoint deadline = kNever;
  // When what is missing is asked for again.
  Retries repairs;

  // Slots --------------------------------------------------------------------

  struct Arrival {
    size_t bytes = 0;
    bool repair = false;
    bool marked = false;  // one of the sender's last
  };
  // A slot has come, for the first time, and was taken.
  void arrived(TimePoint now, int rank, const Arrival& arrival);
  // It came and was not taken; the rank's stage has `slots`. False: it did so
  // before.
  bool cameInVain(int rank, uint32_t slot, uint32_t slots);
  bool anyInVain(int rank) const { return !senders_[rank].inVain.none(); }
  // A slot that had come in vain was taken at last.
  void forgetInVain(int rank, uint32_t slot);
  // Slots of a rank that came in vain; to mark in, of so many.
  const BitSet& inVain(int rank) const { return senders_[rank].inVain; }
  BitSet& inVain(int rank, uint32_t slots);
  // Slots that were taken were dropped again.
  void dropped(int rank, uint64_t bytes);

  // What came after the stage's end, before it is settled and after that, when
  // it was taken for lost. False: so much was not lost.
  void cameLate(int rank, size_t bytes) { senders_[rank].bytes.late += bytes; }
  bool lostCameLate(int rank, size_t bytes);
  // The same, but of slots that may have been taken for absent.
  void lostOrAbsentCameLate(int rank, size_t bytes);

  // No more slots of the rank will be taken: what is missing was refused, so
  // many bytes of what came in vain or late; or lost, or absent.
  void settle(int rank, uint64_t inVainBytes, bool absent);
  void addLoss(StageLoss* loss) const;

  // Its end ------------------------------------------------------------------

  // How long it took, if it was complete; zero: it was not.
  Duration took{0};
  // When nothing more of it was waited for.
  TimePoint closedAt{};
  bool expired = false;  // not all had come
  bool early = false;    // it ended before its bound
  // It ended at its bound, and missed what was on its way.
  bool cutShort = false;

 private:
  struct Sender {
    StageBytes bytes;
    BitSet inVain;  // sized on first use
  };

  std::vector<Sender> senders_;  // by rank
  StageProgress progress_;
};

}  // namespace ubt
