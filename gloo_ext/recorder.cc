// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/recorder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <utility>

#include "gloo_ext/report_text.h"

namespace gloo_ext {
namespace {

constexpr auto kTextfilePeriod = std::chrono::seconds(1);

}  // namespace

Recorder::Recorder(std::string directory, int rank)
    : directory_(std::move(directory)), rank_(rank) {
  if (!directory_.empty()) {
    lines_.open(linesPath(), std::ios::app);
    if (!lines_) {
      complain(linesPath());
    }
  }
}

std::string Recorder::linesPath() const {
  return directory_ + "/rank" + std::to_string(rank_) + ".jsonl";
}

void Recorder::complain(const std::string& path) {
  if (!complained_) {
    complained_ = true;
    std::cerr << "warning: libgloo_ubt.so: cannot write " << path << " ("
              << std::strerror(errno)
              << "): does the folder that GLOO_UBT_REPORT names exist?\n";
  }
}

void Recorder::add(const BoundedOp& op) {
  statistics_.add(op);
  if (directory_.empty()) {
    return;
  }
  const std::string line = opJson(op);
  std::lock_guard<std::mutex> lock(mutex_);
  lines_ << line << "\n" << std::flush;
  if (!lines_) {
    complain(linesPath());
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - written_ >= kTextfilePeriod) {
    written_ = now;
    writeTextfile();
  }
}

// Whole or not at all, for whoever reads it meanwhile.
void Recorder::writeTextfile() {
  const std::string path =
      directory_ + "/rank" + std::to_string(rank_) + ".prom";
  const std::string fresh = path + ".new";
  std::ofstream file(fresh);
  file << prometheusText(statistics_.totals(), rank_);
  file.close();
  if (!file || std::rename(fresh.c_str(), path.c_str()) != 0) {
    complain(path);
  }
}

void Recorder::finish() {
  const Statistics::Totals totals = statistics_.totals();
  std::lock_guard<std::mutex> lock(mutex_);
  if (!directory_.empty()) {
    writeTextfile();
  }
  if (rank_ == 0 && totals.boundedOps > 0) {
    std::cerr << summary(totals) << "\n";
  }
}

}  // namespace gloo_ext
