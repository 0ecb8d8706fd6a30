// SPDX-License-Identifier: Apache-2.0
//
// Checks that calls take no longer than allowed.

#include <algorithm>

#include "transport_ubt/sim/checker.h"

namespace ubt::sim {

// If bounds are set by hand, the options limit a call's time. If they are
// learned, only the report knows the limit.
void Checker::checkTime(const OpKey& key,
                        int rank,
                        const OpReport& report,
                        Duration took,
                        Duration mayHaveWaited,
                        Duration stoodStill) {
  const Options protocol = options_.protocolOf(rank);
  const bool byHand = protocol.boundScatter > Duration{0};
  Duration most = std::min(report.limit, protocol.timeout);
  if (byHand && report.bounded && !protocol.needsEveryResult()) {
    most = std::min(
        protocol.boundScatter + protocol.boundBroadcast +
            (inputs_.shapeOf(key).hierarchical() ? protocol.boundBroadcast
                                                 : Duration{0}),
        protocol.timeout);
  }
  if (byHand && protocol.warmupOps == 0 && !report.bounded) {
    fail(key, rank, "not bounded, though its bounds are set");
  }
  // A rank with a full socket notices the end later by this.
  const Duration full = options_.fullSocket(rank);
  const bool waits = report.bounded && !protocol.needsEveryResult();
  if (report.elapsed - (waits ? report.waited : Duration{0}) >
          most + full + stoodStill ||
      report.elapsed > protocol.timeout + full + stoodStill) {
    fail(key,
         rank,
         "outlasted its bounds: took " +
             std::to_string(report.elapsed.count()) + " ns, waited for " +
             std::to_string(report.waited.count()) + " of them, of " +
             std::to_string(most.count()));
  }
  longestBounds_ = std::max(
      longestBounds_,
      byHand
          ? protocol.boundScatter + 2 * protocol.boundBroadcast
          : report.boundScatter + report.boundExchange + report.boundBroadcast);
  if (took > slowest_.took) {
    slowest_ = {key, rank, took};
  }
  if (report.elapsed > took || took - report.elapsed > mayHaveWaited) {
    fail(key, rank, "reports a wrong time");
  }
}

void Checker::checkSlowest() const {
  const Duration most = options_.slowestCall(longestBounds_);
  if (slowest_.took > most) {
    fail(slowest_.key,
         slowest_.rank,
         "stalled: took " + std::to_string(slowest_.took.count()) + " ns of " +
             std::to_string(most.count()) + " at most");
  }
}

}  // namespace ubt::sim
