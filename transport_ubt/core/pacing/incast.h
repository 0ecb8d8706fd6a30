// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// The paper's dynamic incast (OptiReduce, NSDI'25, section 3.2): a receiver
// admits I senders at a time. A rank's own I begins at one, rises by one after
// an op without loss and without an expiry, and halves after one with much loss
// (kPaperLossHigh) or with an expiry. Ranks advertise theirs, and each uses the
// smallest.
//
// Here, credit admits: only I senders are given more than one slot of it, and
// senders take turns. When half of a turn has come, the rest is on its way, and
// the next turn begins. A turn also ends if the sender leaves its credit
// unused. In the paper, ranks meet in the same rounds. Here, receivers choose
// senders alone, and two may choose the same one. So a small I leaves links
// idle.
//
// Used only with Options::loops kPaper. Not thread-safe.
class Incast {
 public:
  // The receiver's news of a sender.
  struct Sender {
    uint64_t owed = 0;   // slots that it could send in a turn
    uint64_t next = 0;   // one past the highest packet number that it has used
    bool waits = false;  // it has used up its credit, so it has more data
    Duration patience{0};  // the longest pause of a sender that has data
  };

  // For rank `self` of `size` ranks.
  Incast(int self, int size);

  // I, and the one that this rank advertises.
  int senders() const { return senders_; }
  int own() const { return own_; }
  // Another rank advertises its own; zero: it does not.
  void heard(int rank, int senders);
  // Whether senders have to take turns.
  bool limits() const { return senders_ < static_cast<int>(turns_.size()) - 1; }

  // An op has returned here. `loss`: the share of its data that is missing.
  void returned(double loss, bool expired);
  // An op begins: turns begin with the sender that serves this rank first.
  void restart() { last_ = self_; }

  // Whether the sender may hold more than one slot of credit, and how many
  // slots its turn has left beyond `next`.
  bool admits(int sender) const { return !limits() || turns_[sender].open; }
  uint64_t left(int sender, uint64_t next) const;

  // Ends and begins turns. `look(rank)` returns the Sender; `tell(rank)`: its
  // turn begins, or has ended, and the rank should hear its credit at once.
  // Called whenever data or a report of a sender arrives, and at dueAt().
  template <typename Look, typename Tell>
  void turn(TimePoint now, const Look& look, const Tell& tell);
  // When a turn ends unless data comes; kNever: no turn is open.
  TimePoint dueAt() const { return dueAt_; }

 private:
  struct Turn {
    bool open = false;
    uint64_t end = 0;    // the packet number that ends it
    uint64_t limit = 0;  // of its credit
    uint64_t next = 0;   // Sender::next at heardAt
    TimePoint heardAt{};
  };

  // Notes that the sender may have sent. Whether its turn is over.
  bool isOver(TimePoint now, const Sender& sender, Turn* turn);

  void smallest();

  const int self_;
  std::vector<Turn> turns_;  // by rank
  std::vector<int> heard_;   // by rank; zero: nothing yet
  int own_ = 1;
  int senders_ = 1;
  int open_ = 0;  // turns
  int last_;      // whose turn began last
  TimePoint dueAt_ = kNever;
};

template <typename Look, typename Tell>
void Incast::turn(TimePoint now, const Look& look, const Tell& tell) {
  dueAt_ = kNever;
  if (!limits()) {
    return;
  }
  const int size = static_cast<int>(turns_.size());
  for (int rank = 0; rank < size; rank++) {
    if (turns_[rank].open && isOver(now, look(rank), &turns_[rank])) {
      turns_[rank].open = false;
      open_--;
      tell(rank);
    }
  }
  // A sender serves the next rank first, then the one after it. So the rank
  // before this one is first here.
  int rank = last_;
  for (int i = 0; i < size && open_ < senders_; i++) {
    rank = (rank + size - 1) % size;
    if (rank == self_ || turns_[rank].open) {
      continue;
    }
    const Sender sender = look(rank);
    if (sender.owed == 0 || !sender.waits) {
      continue;
    }
    turns_[rank] = {true,
                    sender.next + (sender.owed + 1) / 2,
                    sender.next + sender.owed,
                    sender.next,
                    now};
    open_++;
    last_ = rank;
    tell(rank);
  }
  for (int each = 0; each < size; each++) {
    if (turns_[each].open) {
      dueAt_ = std::min(dueAt_, turns_[each].heardAt + look(each).patience);
    }
  }
}

}  // namespace ubt
