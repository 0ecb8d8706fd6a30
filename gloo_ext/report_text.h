// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "gloo_ext/statistics.h"

namespace gloo_ext {

// Text and JSON for statistics and single ops, with the names and units of
// docs/drop_in.md, "Reports".

// One JSON object, on one line.
std::string opJson(const BoundedOp& op);
std::string totalsJson(const Statistics::Totals& totals);

// A textfile for Prometheus' node exporter; `rank` is the process's in its job.
std::string prometheusText(const Statistics::Totals& totals, int rank);

// "optireduce: 1,234 ops, 0.07 % missing, p50/p99 1.2/3.4 ms", of bounded ops.
std::string summary(const Statistics::Totals& totals);

}  // namespace gloo_ext
