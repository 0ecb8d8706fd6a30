// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/chooser/schedule.h"
#include "tests/chooser/small_job.h"

namespace ubt::chooser {

// Runs one small job under every schedule with a given number of deviations,
// depth first. Each run starts anew, because the core cannot be copied.
class Explorer {
 public:
  // Called every 1,024 schedules. If it returns true, explore() ends.
  using Stop = std::function<bool()>;

  explicit Explorer(const JobOptions& options) : options_(options) {}

  // Runs all schedules with exactly this number of deviations. Among schedules
  // with deviations, runs those whose first deviation has an index that is
  // `part` modulo `parts`. Returns false if it was stopped or a promise was
  // broken.
  bool explore(int deviations,
               const Stop& stop,
               uint32_t part = 0,
               uint32_t parts = 1);

  uint64_t schedules() const { return schedules_; }
  uint64_t steps() const { return steps_; }
  // The broken promise, and the schedule that broke it. Empty if none was
  // broken.
  const std::string& violation() const { return violation_; }
  const Schedule& culprit() const { return culprit_; }

 private:
  bool extend(Schedule* schedule,
              int deviations,
              const Stop& stop,
              uint32_t part,
              uint32_t parts);

  const JobOptions options_;
  uint64_t schedules_ = 0;
  uint64_t steps_ = 0;
  std::string violation_;
  Schedule culprit_;
};

}  // namespace ubt::chooser
