// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace test {

// A process that the test started: dies with the thread that started it, and
// at the latest with this object. Its output goes to a file, or with an empty
// path to nowhere. One thread at a time.
class ChildProcess {
 public:
  // Looks the program up in PATH. Throws std::runtime_error if there is no
  // process to be had; a program that cannot be run exits with 127.
  ChildProcess(const std::vector<std::string>& command,
               const std::string& outputPath);
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void signal(int number);

  // The exit status, or 128 + the signal that ended it; nothing if the process
  // still runs after `limit`.
  std::optional<int> wait(std::chrono::milliseconds limit);

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace test
