// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// The state of each rank in an op, as far as this rank has heard: has it
// entered, is it done, has it gone. A rank that is done needs nothing more of
// the op. A rank that has gone counts as done. Times are the arrival of the
// news here.
class Attendance {
 public:
  // No rank has entered. The own rank counts as done from the start, because it
  // needs nothing from itself. `heard`: the number of other ranks that are
  // heard in each stage, because their slots come here.
  Attendance(int rank, int size, int heard);

  static constexpr size_t bytesPerRank() { return sizeof(Rank); }

  // There is news that the rank, maybe the own, has entered. False: it was
  // known.
  bool enter(TimePoint now, int rank);
  bool hasEntered(int rank) const { return ranks_[rank].at != kNever; }
  // kNever: it has not.
  TimePoint enteredAt(int rank) const { return ranks_[rank].at; }
  // Of all ranks that have; kNever: none has.
  TimePoint lastEntry() const { return lastEntry_; }
  // The number of ranks that have entered.
  int entered() const { return entered_; }
  bool mostHaveEntered() const { return 2 * entered_ > size(); }

  // The rank's announcement has arrived. False: it has arrived before.
  bool announce(int rank);
  // The rank knows that this rank has entered.
  void announcementSeen(int rank) { ranks_[rank].knowsOfOurs = true; }
  bool hasSeenAnnouncement(int rank) const { return ranks_[rank].knowsOfOurs; }

  // The rank is through with a stage. Nothing more of its data of this stage is
  // on its way here; or the stage is over there, or half of its senders are
  // complete there.
  void passThrough(TimePoint now, int rank, Stage stage);
  // q of StopRule: when half of the others that are heard were through; kNever:
  // not yet.
  TimePoint halfThroughAt(Stage stage) const { return half(stage).at; }

  // The rank says that it has closed its own shard. False: it said so before.
  bool reportClosed(int rank);
  // The rank says that it has all results.
  void finish(int rank) { ranks_[rank].done = true; }
  // The rank has gone: it no longer sends or receives.
  void markGone(int rank);
  // The rank has returned from the call, and repeats no contributions.
  void endRepeats(int rank) { ranks_[rank].repeatsNothing = true; }

  bool isDone(int rank) const { return ranks_[rank].done; }
  bool hasGone(int rank) const { return ranks_[rank].gone; }
  bool repeatsNothing(int rank) const { return ranks_[rank].repeatsNothing; }
  // The first rank that is not done; -1 if all are.
  int firstNotDone() const;

 private:
  struct Rank {
    TimePoint at = kNever;          // when it entered
    std::array<bool, 2> through{};  // by stage
    bool closed = false;
    bool announced = false;
    bool knowsOfOurs = false;
    bool done = false;
    bool repeatsNothing = false;
    bool gone = false;
  };

  struct Half {
    int through = 0;  // ranks
    TimePoint at = kNever;
  };

  static size_t indexOf(Stage stage) { return static_cast<size_t>(stage); }
  const Half& half(Stage stage) const { return halves_[indexOf(stage)]; }
  int size() const { return static_cast<int>(ranks_.size()); }

  std::vector<Rank> ranks_;
  int entered_ = 0;
  const int heard_;
  std::array<Half, 2> halves_;  // by stage
  TimePoint lastEntry_ = kNever;
};

}  // namespace ubt
