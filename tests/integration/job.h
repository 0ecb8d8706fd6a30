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

// A line that a worker printed. Some of its words are name=value.
class Line {
 public:
  explicit Line(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  // The number after `name=`; -1 if there is none.
  int64_t number(const std::string& name) const;
  bool has(const std::string& part) const {
    return text_.find(part) != std::string::npos;
  }

 private:
  std::string text_;
};

// The ranks of one job, as processes of //tests/integration:worker that meet
// through a directory. They end with this object. Use from one thread.
class Job {
 public:
  using Words = std::vector<std::string>;

  // A long time, because machines are busy.
  static constexpr std::chrono::seconds kLimit{40};

  explicit Job(int size);

  // Starts one rank. `environment` has words of the form NAME=VALUE.
  void start(int rank, const Words& arguments, const Words& environment = {});
  // Starts all ranks that do not run yet.
  void startRest(const Words& arguments, const Words& environment = {});

  ChildProcess& process(int rank) { return *processes_[rank]; }
  int size() const { return static_cast<int>(processes_.size()); }

  // Everything the rank has printed.
  std::string output(int rank) const;
  // The rank's lines that contain `part`.
  std::vector<Line> lines(int rank, const std::string& part) const;
  // Waits for a line that contains `part` and returns the first. Throws
  // std::runtime_error with the output if it does not come.
  Line await(int rank, const std::string& part) const;
  // Waits until the process has ended. Returns its exit status, or -1.
  int wait(int rank);

 private:
  std::string path(int rank) const;

  TemporaryDirectory directory_;
  std::vector<std::unique_ptr<ChildProcess>> processes_;
};

// The time in microseconds, by the clock of the workers' output.
int64_t nowUs();

}  // namespace test
