// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "benchmark/comparison/comparison.h"

namespace gloo {
namespace compare {

// What a worker tells its front end: objects, one a line, with an "event":
//
//   {"event": "connected"}
//   {"event": "progress", "elements", "elapsed_s", "total_s", "rounds"}
//   {"event": "turn", "algorithm", "begins", "iterations"}
//   {"event": "row", "row": {...}, "samples_us": [...]}
//
// A worker that says its turns goes on when it has read a line for each.

// A row, under the names that --json uses. A null says that there is nothing
// to say: bound_us without a bound, p999_us with fewer than 1,000 iterations,
// repair of an exact algorithm.
nlohmann::ordered_json rowOf(const AlgorithmSpec& spec,
                             const Measured& measured,
                             int ranks,
                             size_t elements);

// Whether the row shows what it was meant to: right results, and bounded ones
// from a bounded algorithm.
bool isSound(const AlgorithmSpec& spec, const Measured& measured);

nlohmann::ordered_json progressOf(const Comparison::Progress& progress,
                                  size_t elements);

nlohmann::ordered_json turnOf(const Comparison::Turn& turn,
                              const std::vector<Contender>& contenders);

// Writes one line to standard output, at once.
void emit(const nlohmann::ordered_json& event);

}  // namespace compare
}  // namespace gloo
