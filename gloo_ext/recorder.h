// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>

#include "gloo_ext/statistics.h"

namespace gloo_ext {

// Keeps statistics, and, under a directory if there is one, a file of JSON
// lines, one for each call on the bounded path, and a Prometheus textfile,
// renewed once a second. Any thread may call.
class Recorder {
 public:
  // `directory` may be empty. `rank` is the process's in its job; none: that of
  // its first call's context. `child` joins the names of a forked process's
  // files. What cannot be written is said once on stderr, and left.
  Recorder(std::string directory,
           std::optional<int> rank,
           const std::string& child = "");

  void add(const BoundedOp& op);
  Statistics& statistics() { return statistics_; }
  const Statistics& statistics() const { return statistics_; }

  // When the process ends: the textfile a last time and, from rank 0, a line
  // on stderr. Once; later calls do nothing.
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
