// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// How far each sender has come in one stage of one op, and whether it is worth
// waiting for what is missing (OptiReduce, section 3.2.1, early timeout). Not
// thread-safe.
class StageProgress {
 public:
  // Without `marks` those of the last slots are not heeded.
  explicit StageProgress(int senders, bool marks = true)
      : marks_(marks), flows_(senders) {}
  static size_t bytesFor(int senders) { return senders * sizeof(Flow); }

  // Slots that a sender marks, of `slots`: the last one in a hundred, but no
  // fewer than two, for one may get lost. The first of them:
  static uint32_t firstMarked(uint32_t slots) {
    constexpr uint32_t kMarkedMin = 2;
    return slots - std::min(slots, std::max((slots + 99) / 100, kMarkedMin));
  }

  // The sender owes so many slots. Once for each that owes any, before the
  // first arrives.
  void expect(int sender, uint32_t slots);
  // A slot of the sender's has come for the first time; `marked`: of its last.
  void arrived(TimePoint now, int sender, bool marked);

  // When to give up what is missing, at most `patience` after there was reason
  // to. There are two, and marks get lost while a congested link is slow, not
  // silent, so either will do:
  // - every sender's mark has been seen, and nothing comes any more;
  // - more than half of the senders are complete, and the others, who have all
  //   begun, should have finished at their pace so far; who is slower than to
  //   finish by `bound` has until then, for what comes is not lost. Senders
  //   take turns with their receivers: then twice the longest pause that any
  //   has made counts as no more than patience.
  // kNever: neither holds, or the patience is zero.
  TimePoint earlyEnd(TimePoint bound, Duration patience) const;

  // So much has come that the pace says how long all of it takes: nine tenths.
  bool nearlyComplete() const { return 10 * came_ >= 9 * owed_; }

  // Slots that a sender, or all senders together, owe yet.
  uint32_t owed(int sender) const {
    return flows_[sender].owed - flows_[sender].came;
  }
  uint64_t owed() const { return owed_ - came_; }

  // How long the stage will have taken, were it to go on at its pace from
  // `start` to the last arrival; zero if nothing has come.
  Duration projected(TimePoint start) const;

 private:
  struct Flow {
    uint32_t owed = 0;
    uint32_t came = 0;
    bool marked = false;
    TimePoint first{};
    TimePoint last{};
  };

  bool marks_;
  std::vector<Flow> flows_;
  uint64_t owed_ = 0;
  uint64_t came_ = 0;
  uint32_t senders_ = 0;   // that owe anything
  uint32_t complete_ = 0;  // of those
  uint32_t ending_ = 0;    // complete, or their mark was seen
  TimePoint last_{};       // anything new came
  Duration gapMost_{0};    // between two slots of one sender
  TimePoint most_{};       // more than half of the senders became complete
};

}  // namespace ubt
