// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/lingering.h"

#include <algorithm>

namespace ubt {
namespace {

std::string namesOf(const std::vector<int>& ranks) {
  std::string names;
  for (const int rank : ranks) {
    names += (names.empty() ? "rank " : ", rank ") + std::to_string(rank);
  }
  return names;
}

std::string seconds(std::chrono::milliseconds limit) {
  const auto tenths = limit.count() / 100;
  return std::to_string(tenths / 10) +
         (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) + " s";
}

}  // namespace

std::string Lingering::remark(const std::vector<int>& needing,
                              Clock::time_point now) {
  if (needing.empty()) {
    return "";
  }
  const std::string own = "bounded allreduce: rank " + std::to_string(rank_);
  if (now >= start_ + limit_) {
    if (saidEnd_ || limit_ <= std::chrono::milliseconds(0)) {
      return "";
    }
    saidEnd_ = saidWhom_ = true;
    return own + " ends after " + seconds(limit_) +
           " (GLOO_UBT_LINGER) though " + namesOf(needing) +
           " has not finished its last allreduce, which may fail there";
  }
  if (saidWhom_ || now < start_ + kSilence) {
    return "";
  }
  saidWhom_ = true;
  return own + " has finished and waits for " + namesOf(needing) +
         ", which may still need its results: for " + seconds(limit_) +
         " at most (GLOO_UBT_LINGER)";
}

Lingering::Clock::time_point Lingering::nextLook(Clock::time_point now) const {
  const Clock::time_point end = start_ + limit_;
  const Clock::time_point word = start_ + kSilence;
  return saidWhom_ || word <= now ? end : std::min(word, end);
}

}  // namespace ubt
