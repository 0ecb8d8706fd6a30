// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// Options with these bounds from the first op on, so nothing is learned.
inline SimOptions bounded(int boundMs) {
  SimOptions options;
  options.protocol.warmupOps = 0;
  options.protocol.boundScatter = std::chrono::milliseconds(boundMs);
  options.protocol.boundBroadcast = std::chrono::milliseconds(boundMs);
  options.protocol.timeout = std::chrono::seconds(5);
  return options;
}

}  // namespace ubt::sim
