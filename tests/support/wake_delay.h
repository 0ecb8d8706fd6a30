// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace test {

// Measures how late this machine runs threads: its own thread wakes every few
// milliseconds. A promise in seconds may be late by this. A test that measures
// it need not guess how busy the machine is.
class WakeDelay {
 public:
  WakeDelay();
  ~WakeDelay();
  WakeDelay(const WakeDelay&) = delete;
  WakeDelay& operator=(const WakeDelay&) = delete;

  // The maximum since the start. Callable from any thread.
  std::chrono::microseconds worst() const;

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::chrono::steady_clock::duration worst_{0};
  std::thread thread_;
};

}  // namespace test
