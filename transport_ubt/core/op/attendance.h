// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// What is known of each rank's part in an op: has it entered, is it through,
// has it gone. A rank that is done needs nothing more of the op; one that has
// gone is done, too. Times are those at which this rank heard of it.
class Attendance {
 public:
  // Nobody has entered. The own rank counts as done from the start: it owes
  // itself nothing.
  Attendance(int rank, int size);

  static constexpr size_t bytesPerRank() { return sizeof(Rank); }

  // The rank, maybe the own, has entered, for all that is known. False: that
  // was known before.
  bool enter(int rank);
  bool hasEntered(int rank) const { return ranks_[rank].entered; }
  // How many have.
  int entered() const { return entered_; }
  bool mostHaveEntered() const { return 2 * entered_ > size(); }

  // The rank has said in so many words that it has entered. False: it did
  // before.
  bool announce(int rank);
  // The rank knows that this rank has entered.
  void announcementSeen(int rank) { ranks_[rank].sawOwn = true; }
  bool hasSeenAnnouncement(int rank) const { return ranks_[rank].sawOwn; }

  // The rank has all results, and says so.
  void finish(TimePoint now, int rank);
  // The rank will neither send nor receive any more.
  void go(int rank);
  // The rank has returned, and repeats no contribution.
  void endRepeats(int rank) { ranks_[rank].repeatsNothing = true; }

  bool isDone(int rank) const { return ranks_[rank].done; }
  bool hasGone(int rank) const { return ranks_[rank].gone; }
  bool repeatsNothing(int rank) const { return ranks_[rank].repeatsNothing; }
  // The first rank that is not done; -1 if all are.
  int firstNotDone() const;
  // When more than half of all ranks had said that they have all results;
  // kNever: fewer have.
  TimePoint mostFinishedAt() const { return mostFinishedAt_; }

 private:
  struct Rank {
    bool entered = false;
    bool announced = false;
    bool sawOwn = false;
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
