// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"

namespace test {

// A line that a worker printed: words, of which some are name=value.
class Line {
 public:
  explicit Line(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  // The number behind `name=`; -1 if there is none.
  int64_t number(const std::string& name) const;
  bool has(const std::string& part) const {
    return text_.find(part) != std::string::npos;
  }

 private:
  std::string text_;
};

// Processes of //tests/integration:worker that are the ranks of one job and
// meet through a directory. They end with this object. One thread.
class Job {
 public:
  using Words = std::vector<std::string>;

  // Generous: machines are busy.
  static constexpr std::chrono::seconds kLimit{40};

  explicit Job(int size);

  // Starts one rank. `environment` is of NAME=VALUE.
  void start(int rank, const Words& arguments, const Words& environment = {});
  // Starts those that are not.
  void startRest(const Words& arguments, const Words& environment = {});

  ChildProcess& process(int rank) { return *processes_[rank]; }
  int size() const { return static_cast<int>(processes_.size()); }

  // Everything the rank has printed.
  std::string output(int rank) const;
  // Its lines that contain `part`.
  std::vector<Line> lines(int rank, const std::string& part) const;
  // Waits for a line that contains `part` and returns the first. Throws
  // std::runtime_error with the output if it does not come.
  Line await(int rank, const std::string& part) const;
  // Waits until the process has ended; its exit status, or -1.
  int wait(int rank);

 private:
  std::string path(int rank) const;

  TemporaryDirectory directory_;
  std::vector<std::unique_ptr<ChildProcess>> processes_;
};

// Microseconds of the clock that workers print.
int64_t nowUs();

}  // namespace test
