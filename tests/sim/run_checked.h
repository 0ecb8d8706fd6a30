// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "transport_ubt/sim/world.h"

namespace ubt::sim {

// Runs a job and reports every violation with the options that repeat it.
inline SimResult runChecked(const SimOptions& options) {
  SimResult result = World(options).run();
  for (const std::string& violation : result.violations) {
    ADD_FAILURE() << violation << "\n  " << options.str();
  }
  return result;
}

}  // namespace ubt::sim
