// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/learning.h"

#include <cmath>
#include <sstream>

#include "transport_ubt/core/learn/paper_bounds.h"
#include "transport_ubt/core/learn/stop_learning.h"

namespace ubt {
namespace {

// Bounds by hand replace all loops that end stages.
std::unique_ptr<StopStrategy> strategyOf(const Options& options, int ranks) {
  if (options.loops == Loops::kPaper && options.boundScatter == Duration{0}) {
    return std::make_unique<PaperBounds>(options);
  }
  return std::make_unique<StopLearning>(options, ranks);
}

}  // namespace

Learning::Learning(const Options& options, int ranks)
    : options_(options),
      stops_(strategyOf(options, ranks)),
      transform_(options.hadamard),
      halt_(options.haltLoss) {}

void Learning::returned(const OpSample& op, std::optional<double> missing) {
  if (missing) {
    transform_.returned(op.lost, op.bytes);
    halt_.returned(*missing);
  }
  stops_->returned(op);
}

std::string Learning::whyHalt() const {
  std::ostringstream why;
  why << "halted: over the last ops, " << std::lround(100 * missing())
      << " % of the other ranks' contributions to this rank's sums were "
         "missing on average. Training would make no progress. Look for late "
         "ranks and for a network that loses packets (the ranks' reports tell "
         "which), "
      << (options_.boundScatter > Duration{0}
              ? "for a GLOO_UBT_BOUND that is too short, "
              : "")
      << "or set GLOO_UBT_HALT_LOSS higher (0: never)";
  return why.str();
}

}  // namespace ubt
