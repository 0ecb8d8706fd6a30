// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace ubt {

// How long an ending context goes on serving ranks that still need its results,
// and when it warns of that. Not thread-safe.
class Lingering {
 public:
  using Clock = std::chrono::steady_clock;

  // No warning if lingering takes less time than this.
  static constexpr std::chrono::seconds kSilence{5};

  // Begins now. `rank` is the one that ends.
  Lingering(int rank, std::chrono::milliseconds limit)
      : rank_(rank), start_(Clock::now()), limit_(limit) {}

  // Ends it `limit` after it began, if that is sooner.
  void atMost(std::chrono::milliseconds limit) {
    limit_ = limit < limit_ ? limit : limit_;
  }

  // Whether to go on: some ranks need results, and the limit is not reached.
  bool goesOn(const std::vector<int>& needing, Clock::time_point now) const {
    return !needing.empty() && now < start_ + limit_;
  }
  // A warning that names the ranks that need results: once after kSilence, and
  // once when the limit is reached. Otherwise empty.
  std::string remark(const std::vector<int>& needing, Clock::time_point now);
  // goesOn() and remark() do not change before this time, unless an event
  // happens.
  Clock::time_point nextLook(Clock::time_point now) const;

 private:
  const int rank_;
  const Clock::time_point start_;
  std::chrono::milliseconds limit_;
  bool saidWhom_ = false;
  bool saidEnd_ = false;
};

}  // namespace ubt
