// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// The state of each rank in an op, as far as this rank has heard: has it
// entered, is it done, has it gone. A rank that is done needs nothing more of
// the op. A rank that has gone counts as done. Times are the arrival of the
// news here.
class Attendance {
 public:
  // No rank has entered. The own rank counts as done from the start, because it
  // needs nothing from itself.
  Attendance(int rank, int size);

  static constexpr size_t bytesPerRank() { return sizeof(Rank); }

  // There is news that the rank, maybe the own, has entered. False: it was
  // known.
  bool enter(int rank);
  bool hasEntered(int rank) const { return ranks_[rank].entered; }
  // The number of ranks that have entered.
  int entered() const { return entered_; }
  bool mostHaveEntered() const { return 2 * entered_ > size(); }

  // The rank's announcement has arrived. False: it has arrived before.
  bool announce(int rank);
  // The rank knows that this rank has entered.
  void announcementSeen(int rank) { ranks_[rank].knowsOfOurs = true; }
  bool hasSeenAnnouncement(int rank) const { return ranks_[rank].knowsOfOurs; }

  // The rank says that it has all results.
  void finish(TimePoint now, int rank);
  // The rank has gone: it no longer sends or receives.
  void markGone(int rank);
  // The rank has returned from the call, and repeats no contributions.
  void endRepeats(int rank) { ranks_[rank].repeatsNothing = true; }

  bool isDone(int rank) const { return ranks_[rank].done; }
  bool hasGone(int rank) const { return ranks_[rank].gone; }
  bool repeatsNothing(int rank) const { return ranks_[rank].repeatsNothing; }
  // The first rank that is not done; -1 if all are.
  int firstNotDone() const;
  // When more than half of all ranks had said that they have all results;
  // kNever: not yet.
  TimePoint mostFinishedAt() const { return mostFinishedAt_; }

 private:
  struct Rank {
    bool entered = false;
    bool announced = false;
    bool knowsOfOurs = false;
    bool done = false;
    bool repeatsNothing = false;
    bool gone = false;
  };

  int size() const { return static_cast<int>(ranks_.size()); }

  std::vector<Rank> ranks_;
  int entered_ = 0;
  int finished_ = 0;
  TimePoint mostFinishedAt_ = kNever;
};

}  // namespace ubt
