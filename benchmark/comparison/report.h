// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "benchmark/comparison/comparison.h"

namespace gloo {
namespace compare {

// A worker's reports to its front end: JSON objects, one a line, with an
// "event":
//
//   {"event": "connected"}
//   {"event": "progress", "elements", "elapsed_s", "total_s", "rounds",
//    "iterations"}
//   {"event": "turn", "algorithm", "begins", "iterations"}
//   {"event": "row", "row": {...}, "samples_us": [...]}
//
// After a "turn" event, a worker waits for a line of --turns.

// A row, with the names of --json. Null means not applicable: bound_us without
// a bound, p999_us with fewer than 1,000 iterations, repair of an exact
// algorithm.
nlohmann::ordered_json rowOf(const AlgorithmSpec& spec,
                             const Measured& measured,
                             int ranks,
                             size_t elements);

// Whether the row is valid: its results are right, and a bounded algorithm had
// bounded runs.
bool isSound(const AlgorithmSpec& spec, const Measured& measured);

nlohmann::ordered_json progressOf(const Comparison::Progress& progress,
                                  size_t elements);

nlohmann::ordered_json turnOf(const Comparison::Turn& turn,
                              const std::vector<Contender>& contenders);

// Writes one line to standard output and flushes it.
void emit(const nlohmann::ordered_json& event);

}  // namespace compare
}  // namespace gloo
