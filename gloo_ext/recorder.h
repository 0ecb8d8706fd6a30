// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>

#include "gloo_ext/statistics.h"

namespace gloo_ext {

// Keeps statistics. If it has folders for them, also writes a file of JSON
// lines, one for each call on the bounded path, and a Prometheus textfile, at
// most once a second. Any thread may call.
class Recorder {
 public:
  struct Setup {
    std::string lines;     // the folder of the lines; empty: none
    std::string textfile;  // the folder of the textfile; empty: none
    std::string job;       // its id, for the textfile; may be empty
    // In the job. Without one, the rank in the first call's context is used.
    std::optional<int> rank;
    std::string child;  // file names of a forked process end in it
  };

  // The first file that cannot be written is reported on stderr; the program
  // goes on.
  explicit Recorder(Setup setup);

  void add(const BoundedOp& op);
  Statistics& statistics() { return statistics_; }
  const Statistics& statistics() const { return statistics_; }

  // Call when the process ends. Writes the textfile a last time, with `running`
  // 0, and, on rank 0, a summary on stderr. Later calls do nothing.
  void finish();

 private:
  std::string path(const std::string& folder, const char* extension) const;
  std::string textfilePath() const;
  void open();
  void complain(const std::string& path);
  void writeTextfile(bool runs);

  const Setup setup_;
  std::optional<int> rank_;
  Statistics statistics_;
  std::mutex mutex_;
  bool complained_ = false;
  bool finished_ = false;
  std::ofstream lines_;
  std::chrono::steady_clock::time_point written_{};
};

}  // namespace gloo_ext
