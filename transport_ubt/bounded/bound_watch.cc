// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/bound_watch.h"

#include <cmath>

#include "transport_ubt/core/learn/size_classes.h"

namespace gloo {
namespace transport {
namespace ubt {
namespace {

// Rounded up, in a form that a variable takes.
std::string inWords(::ubt::Duration duration) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  const auto us = std::chrono::ceil<microseconds>(duration);
  const auto ms = std::chrono::ceil<milliseconds>(duration);
  return us == ms || ms > milliseconds(10) ? std::to_string(ms.count()) + "ms"
                                           : std::to_string(us.count()) + "us";
}

}  // namespace

const BoundWatch::Row* BoundWatch::add(
    Rows* rows, const std::vector<::ubt::StageBytes>& stage, bool ended) {
  uint64_t all = 0;
  uint64_t expected = 0;
  uint64_t received = 0;
  for (const ::ubt::StageBytes& peer : stage) {
    all += peer.expected;
    expected += peer.expected - peer.absent;
    received += peer.received;
  }
  Row& row = (*rows)[::ubt::SizeClasses::of(all)];
  if (ended && expected == 0) {  // nobody had entered: proves nothing
    return nullptr;
  }
  if (!ended || 2 * received >= expected) {
    row = Row();
    return nullptr;
  }
  row.expected += expected;
  row.received += received;
  row.calls++;
  return row.calls < kCalls ? nullptr : &row;
}

std::string BoundWatch::returned(const ::ubt::OpReport& report) {
  using ::ubt::EndedBy;
  const Row* const scatter =
      add(&scatters_,
          report.scatter,
          report.bounded && report.scatterExpired && !report.scatterEarly);
  const Row* const broadcast =
      add(&broadcasts_,
          report.broadcast,
          report.bounded && report.endedBy == EndedBy::kBound);
  if (said_ || (scatter == nullptr && broadcast == nullptr)) {
    return "";
  }
  said_ = true;
  return scatter != nullptr
             ? advice("scatter", *scatter, report.boundScatter, true)
             : advice("broadcast", *broadcast, report.boundBroadcast, false);
}

// With repair `both`, scatter stages end later than the set bound, in
// proportion. `both`: the other stage has as many bytes to send.
std::string BoundWatch::advice(const char* stages,
                               const Row& row,
                               ::ubt::Duration ended,
                               bool both) const {
  std::string text =
      std::string("GLOO_UBT_BOUND: the ") + stages + " stages of " +
      std::to_string(kCalls) + " calls in a row ended at " + inWords(ended) +
      " with " +
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
  const std::string scatter = both ? longer(scatter_) : inWords(scatter_);
  const std::string broadcast = longer(broadcast_);
  return text + "At the pace so far they take some " +
         inWords(::ubt::wholeNanoseconds(ended * pace)) +
         ": set twice as much, GLOO_UBT_BOUND=" + scatter +
         (broadcast == scatter ? "" : "," + broadcast) +
         ", or unset it, and bounds are learned";
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
