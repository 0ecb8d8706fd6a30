// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bound_watch.h"

#include <cmath>

#include "transport_ubt/core/size_classes.h"

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
  uint64_t all = 0;
  uint64_t expected = 0;
  uint64_t received = 0;
  for (const ::ubt::StageBytes& peer : report.scatter) {
    all += peer.expected;
    expected += peer.expected - peer.absent;
    received += peer.received;
  }
  Row& row = rows_[::ubt::SizeClasses::of(all)];
  if (!report.bounded || !report.scatterExpired || report.scatterEarly ||
      2 * received >= expected) {
    row = Row();
    return "";
  }
  row.expected += expected;
  row.received += received;
  row.calls++;
  if (row.calls < kCalls || said_) {
    return "";
  }
  said_ = true;
  return advice(row, report.boundScatter);
}

// With repair `both` stages end later than what was set; in proportion.
std::string BoundWatch::advice(const Row& row, ::ubt::Duration ended) const {
  std::string text =
      "GLOO_UBT_BOUND: the scatter stages of " + std::to_string(kCalls) +
      " calls in a row ended at " + inWords(ended) + " with " +
      std::to_string(
          std::lround(100.0 * (row.expected - row.received) / row.expected)) +
      " % of what others send not there yet. ";
  if (row.received == 0) {
    return text + "Unset it, and bounds are learned";
  }
  const double pace = static_cast<double>(row.expected) / row.received;
  const auto longer = [pace](::ubt::Duration bound) {
    return inWords(::ubt::wholeNanoseconds(bound * 2 * pace));
  };
  return text + "At the pace so far they take some " +
         inWords(::ubt::wholeNanoseconds(ended * pace)) +
         ": set twice as much, GLOO_UBT_BOUND=" + longer(scatter_) +
         (broadcast_ == scatter_ ? "" : "," + longer(broadcast_)) +
         ", or unset it, and bounds are learned";
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
