// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/recorder.h"

#include <cctype>
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

Recorder::Recorder(Setup setup) : setup_(std::move(setup)), rank_(setup_.rank) {
  if (rank_) {
    open();
  }
}

std::string Recorder::path(const std::string& folder,
                           const char* extension) const {
  return folder + "/rank" + std::to_string(*rank_) + setup_.child + extension;
}

// REQUIRES that the rank is known.
void Recorder::open() {
  if (!setup_.lines.empty()) {
    const std::string path = this->path(setup_.lines, kLines);
    lines_.open(path, std::ios::app);
    if (!lines_) {
      complain(path);
    }
  }
}

void Recorder::complain(const std::string& path) {
  if (!complained_) {
    complained_ = true;
    ubt::warn("libgloo_ubt.so: cannot write " + path + " (" +
              std::strerror(errno) +
              "): does the folder of GLOO_UBT_REPORT or GLOO_UBT_METRICS "
              "exist?");
  }
}

void Recorder::add(const BoundedOp& op) {
  statistics_.add(op);
  const std::string line = setup_.lines.empty() ? "" : opJson(op);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!rank_) {
    rank_ = op.rank;
    open();
  }
  if (!setup_.lines.empty()) {
    lines_ << line << "\n" << std::flush;
    if (!lines_) {
      complain(path(setup_.lines, kLines));
    }
  }
  const auto now = std::chrono::steady_clock::now();
  if (!setup_.textfile.empty() && !finished_ &&
      now - written_ >= kTextfilePeriod) {
    written_ = now;
    writeTextfile(true);
  }
}

// A folder of metrics may serve several jobs.
std::string Recorder::textfilePath() const {
  std::string job;
  if (setup_.textfile != setup_.lines && !setup_.job.empty()) {
    for (const char letter : setup_.job) {
      job += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
    }
    job += "-";
  }
  return setup_.textfile + "/" + job + "rank" + std::to_string(*rank_) +
         setup_.child + kTextfile;
}

// Replaces the file atomically: a reader sees a whole file.
void Recorder::writeTextfile(bool runs) {
  const std::string whole = textfilePath();
  const std::string fresh = whole + ".new";
  std::ofstream file(fresh);
  file << prometheusText(statistics_.totals(),
                         {setup_.job, *rank_, setup_.child, runs});
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
  if (!setup_.textfile.empty() && rank_) {
    writeTextfile(false);
  }
  if (rank_ == 0 && totals.boundedOps > 0) {
    ubt::writeLine(summary(totals));
  }
}

}  // namespace gloo_ext
