// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/size_classes.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"

namespace ubt {
namespace {

// With repair `both`, the scatter stage has this many times the sum of all
// bounds.
constexpr int kBothFactor = 2;

}  // namespace

uint32_t SizeClasses::of(uint64_t bytes) {
  uint32_t log = 0;
  while (bytes >>= 1) {
    log++;
  }
  return log;
}

SizeClasses::Learned& SizeClasses::classOf(uint32_t sizeClass) {
  return classes_.try_emplace(sizeClass, ranks_, options_.earlyShare)
      .first->second;
}

bool SizeClasses::warm(const Learned& learned) const {
  return learned.ops >= options_.warmupOps && learned.scatter.any() &&
         learned.broadcast.any();
}

// The bounds of a class, its own or borrowed. Zero if no class is warm.
SizeClasses::Sample SizeClasses::learned(
    uint32_t sizeClass, const StageBound::Unrest& unrest) const {
  const auto bounds = [&](const Learned& learned, int64_t factor) {
    return Sample{learned.scatter.bound(options_.boundMode, unrest) * factor,
                  learned.broadcast.bound(options_.boundMode, unrest) * factor,
                  learned.exchange.bound(options_.boundMode, unrest) * factor};
  };
  Sample found;
  for (const auto& [other, learned] : classes_) {
    if (!warm(learned)) {
      continue;
    }
    if (other <= sizeClass) {  // keeps the largest of these
      found = bounds(learned, int64_t{1} << (sizeClass - other));
      if (other == sizeClass) {
        break;
      }
      continue;
    }
    const Sample larger = bounds(learned, 1);
    if (found.scatter == Duration{0}) {
      return larger;
    }
    return {std::min(found.scatter, larger.scatter),
            std::min(found.broadcast, larger.broadcast),
            std::min(found.exchange, larger.exchange)};
  }
  return found;
}

OpBounds SizeClasses::boundsFor(const OpShape& shape,
                                const StageBound::Unrest& unrest,
                                Duration limit) {
  const uint32_t sizeClass = of(shape.bytes());
  const bool byHand = options_.boundScatter > Duration{0};
  OpBounds bounds;
  bounds.limit = limit;
  if (byHand) {
    bounds.warmup = classOf(sizeClass).ops < options_.warmupOps;
    bounds.scatter = options_.boundScatter;
    bounds.broadcast = options_.boundBroadcast;
    bounds.exchange =
        shape.hierarchical() ? options_.boundBroadcast : Duration{0};
  } else {
    const Sample own = learned(sizeClass, unrest);
    bounds.warmup = own.scatter == Duration{0};
    bounds.scatter = own.scatter;
    bounds.broadcast = own.broadcast;
    bounds.exchange = own.exchange;
  }
  if (bounds.warmup) {
    bounds.scatter = bounds.broadcast = bounds.end = limit;
    return bounds;
  }
  if (!byHand) {
    const Learned& sizes = classOf(sizeClass);
    if (options_.early && sizes.scatterEarly.stage() > Duration{0}) {
      bounds.scatterPatience =
          std::max(sizes.scatterEarly.patience(), unrest.lateness);
    }
    if (options_.early && sizes.broadcastEarly.stage() > Duration{0}) {
      bounds.broadcastPatience =
          std::max(sizes.broadcastEarly.patience(), unrest.lateness);
    }
  }
  if (options_.repair == RepairPolicy::kBoth) {
    // Lost contributions are requested again in this time.
    bounds.scatter =
        kBothFactor * (bounds.scatter + bounds.exchange + bounds.broadcast);
  }
  // A stage leaves the others their share of the timeout.
  const Duration most = limit / (shape.hierarchical() ? 3 : 2);
  bounds.scatter = std::min(bounds.scatter, most);
  bounds.exchange = std::min(bounds.exchange, most);
  bounds.broadcast = std::min(bounds.broadcast, most);
  bounds.end =
      options_.needsEveryResult()
          ? limit
          : std::min(limit,
                     bounds.scatter + bounds.exchange + bounds.broadcast);
  return bounds;
}

SizeClasses::Sample SizeClasses::returned(int rank, const OpSample& op) {
  const uint32_t sizeClass = of(op.bytes);
  Learned& sizes = classOf(sizeClass);
  sizes.ops++;
  if (op.scatter.took > Duration{0}) {
    sizes.scatter.complete(op.scatter.took, op.warmup);
  } else if (op.scatter.wouldTake > Duration{0}) {
    sizes.scatter.incomplete(op.scatter.wouldTake);
  }
  if (op.exchange.took > Duration{0}) {
    sizes.exchange.complete(op.exchange.took, op.warmup);
  }
  if (op.broadcast.took > Duration{0}) {
    sizes.broadcast.complete(op.broadcast.took, op.warmup);
  } else if (op.broadcast.wouldTake > Duration{0}) {
    sizes.broadcast.incomplete(op.broadcast.wouldTake);
  }
  const Sample own{op.scatter.sample, op.broadcast.sample};
  sample(rank, sizeClass, own);
  sizes.scatterEarly.returned();
  sizes.broadcastEarly.returned();
  return own;
}

void SizeClasses::sample(int rank, uint32_t sizeClass, const Sample& sample) {
  UBT_REQUIRE(sizeClass < kClasses);
  Learned& sizes = classOf(sizeClass);
  if (sample.scatter > Duration{0}) {
    sizes.scatterEarly.sample(rank, sample.scatter);
  }
  if (sample.broadcast > Duration{0}) {
    sizes.broadcastEarly.sample(rank, sample.broadcast);
  }
}

void SizeClasses::done(const OpSample& op) {
  Learned& sizes = classOf(of(op.bytes));
  sizes.scatterEarly.done(op.scatter.lateShare);
  sizes.broadcastEarly.done(op.broadcast.lateShare);
  if (op.scatter.cutShort) {
    sizes.scatter.incomplete(std::max(op.scatter.bound, op.scatter.sample));
  }
  if (op.exchange.cutShort) {
    sizes.exchange.incomplete(op.exchange.bound);
  }
  if (op.broadcast.cutShort) {
    sizes.broadcast.incomplete(op.broadcast.bound);
  }
}

}  // namespace ubt
