// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// Slots of an op that their senders report as lost. Later packets show a loss
// early, but the slots may only have been overtaken. So they count as lost
// after a while. Not thread-safe.
class ReportedLosses {
 public:
  struct Slots {
    int rank = 0;  // that sent them
    Stage stage{};
    uint32_t first = 0;
    uint32_t count = 0;
  };

  explicit ReportedLosses(int ranks) : most_(kEach * ranks) {}
  // The most bytes that one allocates.
  static size_t bytesFor(int ranks) { return kEach * ranks * sizeof(Report); }

  // They count as lost at `due`. If too many wait, drops the report. Then the
  // end of the stage decides.
  void add(TimePoint due, const Slots& slots) {
    if (reports_.size() < most_) {
      reports_.reserve(most_);
      reports_.push_back({due, slots});
      earliest_ = std::min(earliest_, due);
    }
  }
  TimePoint earliest() const { return earliest_; }

  // Calls act(Slots) for those that are due, in the order of their reports, and
  // forgets them. REQUIRES that act does not call this object.
  template <typename Act>
  void forDue(TimePoint now, const Act& act) {
    if (now < earliest_) {
      return;
    }
    earliest_ = kNever;
    size_t kept = 0;
    for (const Report& report : reports_) {
      if (now >= report.due) {
        act(report.slots);
      } else {
        earliest_ = std::min(earliest_, report.due);
        reports_[kept++] = report;
      }
    }
    reports_.resize(kept);
  }

 private:
  // A mean: one rank may have more.
  static constexpr size_t kEach = 4;

  struct Report {
    TimePoint due;
    Slots slots;
  };

  size_t most_;
  std::vector<Report> reports_;
  TimePoint earliest_ = kNever;
};

}  // namespace ubt
