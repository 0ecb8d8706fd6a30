// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// Decides which packet numbers of one direction are lost (RFC 9002, section
// 6.1). A number is lost once `reordering` later numbers have been used, or
// some time after the first of these arrived. A number that arrives after all
// was only overtaken: `reordering` then rises to that distance. Not
// thread-safe.
class LossDetector {
 public:
  // RFC 9002, section 6.1.1: the packet threshold.
  static constexpr uint64_t kReorderingMin = 3;
  static constexpr uint64_t kReorderingMax = 512;
  // The most gaps that it remembers. If there are more, the numbers of the
  // oldest one count as lost, and the oldest lost ones are forgotten.
  static constexpr size_t kGapsMax = 128;

  // Without `adapts` no number is overtaken: what counts as lost stays lost.
  explicit LossDetector(bool adapts = true) : adapts_(adapts) {}

  // A number has arrived for the first time. True: it had counted as lost.
  bool arrived(TimePoint now, uint64_t number) {
    if (number >= next_) {
      used(now, number);
      next_ = number + 1;
      return false;
    }
    if (fill(&open_, number)) {
      return false;
    }
    if (!adapts_) {
      return false;
    }
    if (!fill(&lost_, number)) {
      return false;  // too old to be remembered
    }
    forgetOldest();  // a gap may have become two
    reordering_ = std::clamp(next_ - number, reordering_, kReorderingMax);
    return true;
  }
  // All numbers below `next` have been sent.
  void used(TimePoint now, uint64_t next) {
    if (next > next_) {
      open_.push_back({next_, next, now});
      next_ = next;
    }
  }

  // Whether numbers are missing that are not lost yet.
  bool hasGaps() const { return !open_.empty(); }
  // Calls act(first, count, before) for numbers that are lost from now on,
  // `after` the arrival of a later one at the latest. `before`: how many
  // numbers just before `first` were lost in a run. REQUIRES that act does not
  // call this object.
  template <typename Act>
  void collect(TimePoint now, Duration after, const Act& act) {
    while (!open_.empty()) {
      Gap& gap = open_.front();
      const uint64_t end =
          open_.size() > kGapsMax || now >= gap.at + after ? gap.end
          : next_ > reordering_ ? std::min(gap.end, next_ - reordering_)
                                : 0;
      if (end <= gap.first) {
        break;
      }
      run_ = gap.first == runEnd_ ? run_ : 0;
      act(gap.first, end - gap.first, run_);
      run_ += end - gap.first;
      runEnd_ = end;
      lost_.push_back({gap.first, end, gap.at});
      forgetOldest();
      gap.first = end;
      if (gap.first < gap.end) {
        break;
      }
      open_.pop_front();
    }
  }
  // When the next number is lost, though no later one arrives; kNever: none.
  TimePoint nextDeadline(Duration after) const {
    return open_.empty() ? kNever : open_.front().at + after;
  }

 private:
  // Numbers that have not arrived; `at`: when a later one did.
  struct Gap {
    uint64_t first;
    uint64_t end;
    TimePoint at;
  };

  void forgetOldest() {
    if (lost_.size() > kGapsMax) {
      lost_.pop_front();
    }
  }
  // Takes the number out of its gap. False: it is in none.
  static bool fill(std::deque<Gap>* gaps, uint64_t number) {
    const auto gap =
        std::find_if(gaps->begin(), gaps->end(), [&](const Gap& g) {
          return g.first <= number && number < g.end;
        });
    if (gap == gaps->end()) {
      return false;
    }
    if (gap->first + 1 == gap->end) {
      gaps->erase(gap);
    } else if (number == gap->first) {
      gap->first++;
    } else if (number + 1 == gap->end) {
      gap->end--;
    } else {
      const Gap rest{number + 1, gap->end, gap->at};
      gap->end = number;
      gaps->insert(gap + 1, rest);
    }
    return true;
  }

  bool adapts_;
  uint64_t next_ = 0;
  uint64_t reordering_ = kReorderingMin;
  uint64_t run_ = 0;  // the latest lost numbers, up to runEnd_
  uint64_t runEnd_ = 0;
  std::deque<Gap> open_;  // not lost yet, in order
  std::deque<Gap> lost_;  // the latest ones
};

}  // namespace ubt
