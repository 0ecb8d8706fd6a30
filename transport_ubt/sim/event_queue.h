// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "transport_ubt/core/base/clock.h"

namespace ubt::sim {

// Events in virtual time. Of events at the same time, the one scheduled first
// runs first.
class EventQueue {
 public:
  using Event = std::function<void()>;

  TimePoint now() const { return now_; }

  void at(TimePoint when, Event event) {
    events_.emplace(std::make_pair(std::max(when, now_), sequence_++),
                    std::move(event));
  }
  void after(Duration delay, Event event) {
    at(now_ + delay, std::move(event));
  }

  // Runs the next event. Returns false if there is none.
  bool step() {
    if (events_.empty()) {
      return false;
    }
    auto first = events_.begin();
    now_ = first->first.first;
    const Event event = std::move(first->second);
    events_.erase(first);
    event();
    return true;
  }

 private:
  TimePoint now_{std::chrono::seconds(1)};
  uint64_t sequence_ = 0;
  std::map<std::pair<TimePoint, uint64_t>, Event> events_;
};

}  // namespace ubt::sim
