// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/learning.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ubt {
namespace {

// Times travel in 32 bits.
uint32_t microseconds(Duration took) {
  return static_cast<uint32_t>(
      std::min<int64_t>(took / std::chrono::microseconds(1), UINT32_MAX));
}

}  // namespace

Learning::Learning(const Options& options, int rank, int ranks)
    : options_(options),
      rank_(rank),
      classes_{SizeClasses(options, ranks), SizeClasses(options, ranks)},
      stops_(options, ranks),
      transform_(options.hadamard),
      halt_(options.haltLoss) {}

ControlRecord Learning::returned(const OpSample& op,
                                 std::optional<double> missing) {
  if (missing) {
    transform_.returned(options_.loops == Loops::kMeasured
                            ? op.lost
                            : op.scatter.loss + op.broadcast.loss,
                        op.bytes);
    halt_.returned(*missing);
  }
  if (options_.loops == Loops::kMeasured) {
    stops_.returned(op);
  }
  const SizeClasses::Sample took =
      classesOf(op.hierarchical).returned(rank_, op);
  ControlRecord record;
  record.type = ControlType::kTookStage;
  record.sizeClass =
      static_cast<uint8_t>(SizeClasses::of(op.bytes) |
                           (op.hierarchical ? SizeClasses::kClasses : 0));
  record.scatterUs = microseconds(took.scatter);
  record.broadcastUs = microseconds(took.broadcast);
  return record;
}

void Learning::done(const OpSample& op) {
  if (options_.loops == Loops::kMeasured) {
    stops_.done(op);
  } else {
    classesOf(op.hierarchical).done(op);
  }
}

void Learning::told(int rank, const ControlRecord& record) {
  const bool hierarchical = (record.sizeClass & SizeClasses::kClasses) != 0;
  if (record.sizeClass < 2 * SizeClasses::kClasses) {
    classesOf(hierarchical)
        .sample(rank,
                record.sizeClass % SizeClasses::kClasses,
                {std::chrono::microseconds(record.scatterUs),
                 std::chrono::microseconds(record.broadcastUs)});
  }
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
