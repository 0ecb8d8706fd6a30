// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmark/algorithm_name.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// Names of algorithms, as the simulator understands them.

// Whether the protocol itself serves it. If not, it is exact, and has a
// MessageGraph.
bool isSimulatedByCore(const gloo::compare::AlgorithmName& name);

// The job's options with the settings in its algorithm's name. Throws
// std::invalid_argument if the simulator lacks one, or a value is wrong.
SimOptions withSettings(SimOptions options,
                        const gloo::compare::AlgorithmName& name);

// Throws std::invalid_argument with the reason if such a job cannot run.
void checkSimulated(const gloo::compare::AlgorithmName& name,
                    int ranks,
                    int groups);

}  // namespace ubt::sim
