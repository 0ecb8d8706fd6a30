// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "transport_ubt/sim/sim_options.h"
#include "transport_ubt/sim/sim_result.h"

namespace ubt::sim {

// 8 ranks on links of 500 Mbit/s, as in the lab, with ops that keep the fullest
// link busy all the time: 250,000 elements take 30 ms.
inline SimOptions slowLinks(int ops, uint32_t elements, RepairPolicy repair) {
  SimOptions options;
  options.ranks = 8;
  options.ops = ops;
  options.oneShape = true;
  options.elementsMax = elements;
  options.bytesPerSecond = 6.25e7;
  options.windowBytes = 2 << 20;
  options.protocol.repair = repair;
  options.protocol.hadamard = Hadamard::kNever;
  return options;
}

// Every 500 ms two hosts send to a third one for 100 ms, with two thirds of its
// rate.
inline void addBursts(SimOptions* options) {
  options->burstEvery = std::chrono::milliseconds(500);
  options->burstLeast = std::chrono::milliseconds(95);
  options->burstMost = std::chrono::milliseconds(108);
  options->burstSources = 2;
  options->burstShare = 0.344;
}

// The share of (contributor, element) pairs that results of bounded ops lack.
// REQUIRES ops of one shape.
inline double missing(const SimResult& result, const SimOptions& options) {
  return static_cast<double>(result.pairsMissing) /
         (static_cast<double>(result.boundedOps) * options.ranks *
          options.elementsMax);
}

}  // namespace ubt::sim
