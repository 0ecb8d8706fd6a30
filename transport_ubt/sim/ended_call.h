// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/op/op_report.h"

namespace ubt::sim {

// A call of a caller outside of the simulator that has ended.
struct EndedCall {
  int rank = 0;
  uint32_t op = 0;
  Duration at{0};       // since the job's start
  std::string failure;  // empty: it has its result
  OpReport report;      // of a bounded op that did not fail
};

}  // namespace ubt::sim
