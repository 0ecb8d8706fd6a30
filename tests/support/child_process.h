// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace test {

// A child process of a test. It is killed when the thread that started it ends,
// or when this object is destroyed. Its output goes to a file, or nowhere if
// the path is empty. Use from one thread at a time.
class ChildProcess {
 public:
  // Looks the program up in PATH. Throws std::runtime_error if no process can
  // be made. A program that cannot be run exits with 127.
  ChildProcess(const std::vector<std::string>& command,
               const std::string& outputPath);
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void signal(int number);

  // Returns the exit status, or 128 + the signal that ended it. Returns nothing
  // if the process still runs after `limit`.
  std::optional<int> wait(std::chrono::milliseconds limit);

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace test
