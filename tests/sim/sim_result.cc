// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sim_result.h"

#include <algorithm>

namespace ubt::sim {

void SimResult::add(const OpReport& report) {
  returns++;
  boundedOps += report.bounded;
  early += report.scatterEarly || report.endedBy == EndedBy::kEarly;
  transformed += std::count(report.contributed.begin(),
                            report.contributed.end(),
                            Form::kTransformed) > 0;
  boundedTime += report.bounded ? report.elapsed : Duration{0};
  pairsMissing += report.pairsMissing;
  driftElements += report.driftElements;
  zeroedElements += report.zeroedElements;
  skipped += report.skipped;
  for (size_t rank = 0; rank < report.scatter.size(); rank++) {
    repairedBytes +=
        report.scatter[rank].repaired + report.broadcast[rank].repaired;
  }
}

void SimResult::addTime(const std::vector<Outcome>& outcomes) {
  Duration slowest{0};
  for (const Outcome& outcome : outcomes) {
    slowest = std::max(slowest, outcome.report.elapsed);
  }
  if (outcomes.front().report.bounded) {
    opTimes.push_back(slowest);
  }
}

}  // namespace ubt::sim
