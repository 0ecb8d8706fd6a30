// SPDX-License-Identifier: Apache-2.0
#include "tests/chooser/explorer.h"

namespace ubt::chooser {

bool Explorer::explore(int deviations,
                       const Stop& stop,
                       uint32_t part,
                       uint32_t parts) {
  Schedule schedule;
  return extend(&schedule, deviations, stop, part, parts);
}

bool Explorer::extend(Schedule* schedule,
                      int deviations,
                      const Stop& stop,
                      uint32_t part,
                      uint32_t parts) {
  constexpr uint64_t kStopEvery = 1024;
  SmallJob job(options_);
  std::vector<Deviation> offered;
  violation_ = job.run(*schedule, deviations > 0 ? &offered : nullptr);
  if (!violation_.empty()) {
    culprit_ = *schedule;
    return false;
  }
  if (deviations == 0) {
    schedules_++;
    steps_ += job.steps();
    return schedules_ % kStopEvery != 0 || !stop();
  }
  for (size_t i = part; i < offered.size(); i += parts) {
    schedule->push_back(offered[i]);
    if (!extend(schedule, deviations - 1, stop, 0, 1)) {
      return false;
    }
    schedule->pop_back();
  }
  return true;
}

}  // namespace ubt::chooser
