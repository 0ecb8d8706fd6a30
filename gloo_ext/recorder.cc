// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/recorder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "gloo_ext/report_text.h"
#include "transport_ubt/io/warning.h"

namespace gloo_ext {
namespace {

constexpr char kLines[] = ".jsonl";
constexpr char kTextfile[] = ".prom";
constexpr auto kTextfilePeriod = std::chrono::seconds(1);

}  // namespace

Recorder::Recorder(std::string directory,
                   std::optional<int> rank,
                   const std::string& child)
    : directory_(std::move(directory)), child_(child), rank_(rank) {
  if (rank_) {
    open();
  }
}

std::string Recorder::path(const char* extension) const {
  return directory_ + "/rank" + std::to_string(*rank_) + child_ + extension;
}

// REQUIRES that the rank is known.
void Recorder::open() {
  if (!directory_.empty()) {
    lines_.open(path(kLines), std::ios::app);
    if (!lines_) {
      complain(path(kLines));
    }
  }
}

void Recorder::complain(const std::string& path) {
  if (!complained_) {
    complained_ = true;
    ubt::warn("libgloo_ubt.so: cannot write " + path + " (" +
              std::strerror(errno) +
              "): does the folder of GLOO_UBT_REPORT exist?");
  }
}

void Recorder::add(const BoundedOp& op) {
  statistics_.add(op);
  const std::string line = directory_.empty() ? "" : opJson(op);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!rank_) {
    rank_ = op.rank;
    open();
  }
  if (directory_.empty()) {
    return;
  }
  lines_ << line << "\n" << std::flush;
  if (!lines_) {
    complain(path(kLines));
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - written_ >= kTextfilePeriod) {
    written_ = now;
    writeTextfile();
  }
}

// Replaces the file atomically: a reader sees a whole file.
void Recorder::writeTextfile() {
  const std::string whole = path(kTextfile);
  const std::string fresh = whole + ".new";
  std::ofstream file(fresh);
  file << prometheusText(statistics_.totals(), *rank_);
  file.close();
  if (!file || std::rename(fresh.c_str(), whole.c_str()) != 0) {
    complain(whole);
  }
}

void Recorder::finish() {
  const Statistics::Totals totals = statistics_.totals();
  std::lock_guard<std::mutex> lock(mutex_);
  if (std::exchange(finished_, true)) {
    return;
  }
  if (!directory_.empty() && rank_) {
    writeTextfile();
  }
  if (rank_ == 0 && totals.boundedOps > 0) {
    ubt::writeLine(summary(totals));
  }
}

}  // namespace gloo_ext
