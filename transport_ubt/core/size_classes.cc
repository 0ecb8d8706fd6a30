// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/size_classes.h"

#include <algorithm>

namespace ubt {
namespace {

// A bound under this many timer latenesses would measure the scheduler.
constexpr int kLatenessFactor = 10;

uint32_t sizeClass(size_t bytes) {
  uint32_t log = 0;
  while (bytes >>= 1) {
    log++;
  }
  return log;
}

}  // namespace

OpBounds SizeClasses::boundsFor(const OpShape& shape,
                                Duration lateness,
                                Duration limit) {
  const Learned& sizes = classes_[sizeClass(shape.bytes())];
  const bool byHand = options_.boundScatter > Duration{0};
  OpBounds bounds;
  bounds.limit = limit;
  bounds.scatter =
      byHand ? options_.boundScatter : sizes.scatter.bound(options_.boundMode);
  bounds.broadcast = byHand ? options_.boundBroadcast
                            : sizes.broadcast.bound(options_.boundMode);
  bounds.warmup = sizes.ops < options_.warmupOps ||
                  bounds.scatter + bounds.broadcast == Duration{0};
  if (bounds.warmup) {
    bounds.scatter = bounds.broadcast = bounds.end = limit;
    return bounds;
  }
  if (!byHand) {
    const Duration floor = kLatenessFactor * lateness;
    bounds.scatter = std::max(bounds.scatter, floor);
    bounds.broadcast = std::max(bounds.broadcast, floor);
  }
  const Duration both = bounds.scatter + bounds.broadcast;
  bounds.end = options_.repair == RepairPolicy::kNone
                   ? both
                   : both * options_.hardBoundFactor;
  if (bounds.end > limit) {
    bounds.end = limit;
    bounds.scatter = std::min(bounds.scatter, limit / 2);
    bounds.broadcast = std::min(bounds.broadcast, limit / 2);
  }
  if (options_.repair == RepairPolicy::kBoth) {
    // Contributions are asked for as well, for half of the hard bound; the
    // other half is for the results.
    bounds.scatter = bounds.end / 2;
  }
  return bounds;
}

void SizeClasses::returned(const Op& op) {
  Learned& sizes = classes_[sizeClass(op.shape().bytes())];
  sizes.ops++;
  if (op.scatterTook() > Duration{0}) {
    sizes.scatter.complete(op.scatterTook(), op.warmup());
  }
  if (op.broadcastTook() > Duration{0}) {
    sizes.broadcast.complete(op.broadcastTook(), op.warmup());
  }
}

void SizeClasses::done(const Op& op) {
  Learned& sizes = classes_[sizeClass(op.shape().bytes())];
  if (op.scatterCutShort()) {
    sizes.scatter.cutShort(op.bounds().scatter);
  }
  if (op.broadcastCutShort()) {
    sizes.broadcast.cutShort(op.bounds().broadcast);
  }
}

}  // namespace ubt
