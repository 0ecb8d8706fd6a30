// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>

#include "gloo_ext/statistics.h"

namespace gloo_ext {

// Keeps statistics. With a directory, also writes a file of JSON lines, one for
// each call on the bounded path, and a Prometheus textfile, at most once a
// second. Any thread may call.
class Recorder {
 public:
  // `directory` may be empty. `rank` is this process's rank in its job; if
  // there is none, the rank in the first call's context is used. The file names
  // of a forked process end in `child`. The first file that cannot be written
  // is reported on stderr; the program goes on.
  Recorder(std::string directory,
           std::optional<int> rank,
           const std::string& child = "");

  void add(const BoundedOp& op);
  Statistics& statistics() { return statistics_; }
  const Statistics& statistics() const { return statistics_; }

  // Call when the process ends. Writes the textfile a last time and, on rank 0,
  // a summary on stderr. Later calls do nothing.
  void finish();

 private:
  std::string path(const char* extension) const;
  void open();
  void complain(const std::string& path);
  void writeTextfile();

  const std::string directory_;
  const std::string child_;
  std::optional<int> rank_;
  Statistics statistics_;
  std::mutex mutex_;
  bool complained_ = false;
  bool finished_ = false;
  std::ofstream lines_;
  std::chrono::steady_clock::time_point written_{};
};

}  // namespace gloo_ext
