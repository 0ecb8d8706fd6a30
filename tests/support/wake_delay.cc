// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wake_delay.h"

#include <algorithm>

namespace test {

namespace {

constexpr std::chrono::milliseconds kPeriod{5};

}  // namespace

WakeDelay::WakeDelay() : thread_([this] { run(); }) {}

WakeDelay::~WakeDelay() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  thread_.join();
}

std::chrono::microseconds WakeDelay::worst() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::chrono::duration_cast<std::chrono::microseconds>(worst_);
}

void WakeDelay::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    const auto due = std::chrono::steady_clock::now() + kPeriod;
    stop_.wait_until(lock, due, [this] { return stopping_; });
    worst_ = std::max(worst_, std::chrono::steady_clock::now() - due);
  }
}

}  // namespace test
