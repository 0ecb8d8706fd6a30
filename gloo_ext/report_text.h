// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "gloo_ext/statistics.h"

namespace gloo_ext {

// Text and JSON for statistics and single ops, with the names and units of
// docs/watching.md.

// One JSON object, on one line.
std::string opJson(const BoundedOp& op);
std::string totalsJson(const Statistics::Totals& totals);

// A process in its job, and whether it still runs.
struct Process {
  std::string job;  // its id; may be empty
  int rank = 0;
  std::string child;  // tells forked processes of a rank apart; may be empty
  bool runs = true;
};
// A textfile for Prometheus' node exporter. Its labels are the process's, and
// for peers their ranks in the largest context, or "other".
std::string prometheusText(const Statistics::Totals& totals,
                           const Process& process);

// "optireduce: 1,234 ops, 0.07 % missing, p50/p99 1.2/3.4 ms", of bounded ops.
// Ends in ", 5 skipped" if any were (GLOO_UBT_SKIP_LOSS).
std::string summary(const Statistics::Totals& totals);

}  // namespace gloo_ext
