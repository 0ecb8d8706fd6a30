// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "transport_ubt/core/base/clock.h"

namespace ubt::sim {

// Events in virtual time. Of events at the same time, the one scheduled first
// runs first.
class EventQueue {
 public:
  using Event = std::function<void()>;

  TimePoint now() const { return now_; }

  void at(TimePoint when, Event event) {
    if (free_.empty()) {
      free_.push_back(events_.size());
      events_.emplace_back();
    }
    const size_t place = free_.back();
    free_.pop_back();
    events_[place] = std::move(event);
    order_.push({std::max(when, now_), sequence_++, place});
  }
  void after(Duration delay, Event event) {
    at(now_ + delay, std::move(event));
  }

  // Runs the next event. Returns false if there is none.
  bool step() {
    if (order_.empty()) {
      return false;
    }
    const Due first = order_.top();
    order_.pop();
    now_ = first.when;
    const Event event = std::exchange(events_[first.place], nullptr);
    free_.push_back(first.place);
    event();
    return true;
  }

 private:
  struct Due {
    TimePoint when;
    uint64_t sequence;
    size_t place;  // in events_

    bool operator>(const Due& other) const {
      return std::tie(when, sequence) > std::tie(other.when, other.sequence);
    }
  };

  TimePoint now_{std::chrono::seconds(1)};
  uint64_t sequence_ = 0;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> order_;
  // Events do not move while they wait.
  std::vector<Event> events_;
  std::vector<size_t> free_;  // places in events_
};

}  // namespace ubt::sim
