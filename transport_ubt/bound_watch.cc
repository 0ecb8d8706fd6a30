// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bound_watch.h"

#include <cmath>

namespace gloo {
namespace transport {
namespace ubt {
namespace {

// Rounded up, as a variable takes it.
std::string inWords(::ubt::Duration duration) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  const auto us = std::chrono::ceil<microseconds>(duration);
  const auto ms = std::chrono::ceil<milliseconds>(duration);
  return us == ms || ms > milliseconds(10) ? std::to_string(ms.count()) + "ms"
                                           : std::to_string(us.count()) + "us";
}

}  // namespace

std::string BoundWatch::returned(const ::ubt::OpReport& report) {
  uint64_t expected = 0;
  uint64_t received = 0;
  for (const ::ubt::StageBytes& peer : report.scatter) {
    expected += peer.expected - peer.absent;
    received += peer.received;
  }
  if (!report.bounded || !report.scatterExpired || report.scatterEarly ||
      2 * received >= expected) {
    calls_ = 0;
    expected_ = received_ = 0;
    return "";
  }
  expected_ += expected;
  received_ += received;
  calls_++;
  if (calls_ < kCalls || said_) {
    return "";
  }
  said_ = true;
  std::string text =
      "GLOO_UBT_BOUND: the scatter stages of " + std::to_string(kCalls) +
      " calls in a row ended at " + inWords(report.boundScatter) + " with " +
      std::to_string(std::lround(100.0 * (expected_ - received_) / expected_)) +
      " % of what others send not there yet. ";
  if (received_ > 0) {
    const double pace = static_cast<double>(expected_) / received_;
    const auto took = ::ubt::wholeNanoseconds(report.boundScatter * pace);
    text += "At the pace so far they take some " + inWords(took) +
            ": set twice as much, GLOO_UBT_BOUND=" + inWords(2 * took) +
            ", or unset it";
  } else {
    text += "Unset it";
  }
  return text + ", and bounds are learned";
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
