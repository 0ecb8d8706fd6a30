// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/stop_learning.h"

#include <algorithm>
#include <cmath>

#include "transport_ubt/core/learn/size_class.h"

namespace ubt {
namespace {

// The margin: a cut that pays saves more than the host's lateness, at both ends
// of the wait, and than this part of a training step.
constexpr int kLatenesses = 2;
constexpr int kStepParts = 10;

}  // namespace

StopLearning::Times& StopLearning::timesOf(const OpSample& op) {
  return classesOf(op.hierarchical)
      .try_emplace(sizeClassOf(op.bytes), ranks_)
      .first->second;
}

// The class's own times. Otherwise those of the nearest classes: a larger one's
// unchanged, a smaller one's in proportion to the bytes; the shorter ones.
StopLearning::Usual StopLearning::usual(const OpShape& shape, Duration limit) {
  const uint32_t sizeClass = sizeClassOf(shape.bytes());
  Usual found;
  for (const auto& [other, times] : classesOf(shape.hierarchical())) {
    if (!isWarm(times)) {
      continue;
    }
    const double factor = other < sizeClass ? std::exp2(sizeClass - other) : 1;
    const auto scaled = [&](const UsualTimes& known) {
      return wholeNanoseconds(
          std::min<std::chrono::duration<double, Duration::period>>(
              known.usual() * factor, limit));
    };
    const Usual usual{
        scaled(times.scatter), scaled(times.exchange), scaled(times.results)};
    if (other <= sizeClass || found.scatter == Duration{0}) {
      found = usual;
    } else {
      found = {std::min(found.scatter, usual.scatter),
               std::min(found.exchange, usual.exchange),
               std::min(found.results, usual.results)};
    }
    if (other >= sizeClass) {
      break;
    }
  }
  return found;
}

void StopLearning::begins(TimePoint now, const OpShape& shape) {
  spacing_.begins(now, usual(shape, options_.timeout).scatter);
}

OpBounds StopLearning::boundsFor(const OpShape& shape,
                                 Duration lateness,
                                 Duration limit) {
  OpBounds bounds;
  bounds.limit = limit;
  if (options_.boundScatter > Duration{0}) {
    const auto& classes = classesOf(shape.hierarchical());
    const auto times = classes.find(sizeClassOf(shape.bytes()));
    const bool warm =
        options_.warmupOps == 0 ||
        (times != classes.end() && times->second.ops >= options_.warmupOps);
    if (!warm) {
      return bounds;
    }
    bounds.rule = OpBounds::Rule::kByHand;
    const Duration most = mostOfStage(limit, shape.hierarchical());
    bounds.scatter = std::min(options_.boundScatter, most);
    bounds.broadcast = std::min(options_.boundBroadcast, most);
    bounds.exchange = shape.hierarchical() ? bounds.broadcast : Duration{0};
    return bounds;
  }
  const Usual known = usual(shape, limit);
  if (known.scatter == Duration{0}) {
    return bounds;
  }
  bounds.rule = OpBounds::Rule::kLearned;
  bounds.cuts = options_.cutBudget > 0;
  const Duration margin =
      std::max(kLatenesses * lateness,
               options_.has(Loop::kSpacing) ? spacing_.usual() / kStepParts
                                            : Duration{0});
  bounds.stop = {known.scatter, scatterFactor_.value(), margin};
  bounds.exchangeStop = {known.exchange, resultsFactor_.value(), margin};
  bounds.resultsStop = {known.results, resultsFactor_.value(), margin};
  bounds.absentMost = options_.has(Loop::kAbsent) &&
                              lateEntries_.cutsPay(bounds.stop.absentWait())
                          ? absence_.tokens()
                          : 0;
  return bounds;
}

void StopLearning::returned(const OpSample& op) {
  Times& times = timesOf(op);
  times.ops++;
  for (size_t rank = 0; rank < op.senders.size(); rank++) {
    const OpSample::Sender& sender = op.senders[rank];
    if (sender.took > Duration{0} && !sender.cut) {
      times.scatter.complete(static_cast<int>(rank), sender.took);
    }
  }
  if (op.exchangeTook > Duration{0}) {
    times.exchange.complete(0, op.exchangeTook);
  }
  if (op.resultsTook > Duration{0}) {
    if (op.resultsCut) {
      times.results.cut(0, op.resultsTook, times.results.mostProjected());
    } else {
      times.results.complete(0, op.resultsTook);
    }
  }
  if (op.warmup || options_.cutBudget == 0) {
    return;
  }
  absence_.spend(op.cutAbsent);
  absence_.earn(contributions_.forSecond(forContributions()));
}

// Only now all ranks have entered, and all owners have reported their cuts.
void StopLearning::done(const OpSample& op) {
  Times& times = timesOf(op);
  const Duration most = times.scatter.mostProjected();
  for (size_t rank = 0; rank < op.senders.size(); rank++) {
    const OpSample::Sender& sender = op.senders[rank];
    if (sender.cut) {
      times.scatter.cut(
          static_cast<int>(rank),
          sender.took > Duration{0} ? sender.took : Duration::max(),
          most);
    }
  }
  if (op.warmup || options_.cutBudget == 0) {
    return;
  }
  lateEntries_.add(op.lastEntry);
  if (options_.has(Loop::kFactor)) {
    resultsFactor_.returned(op.cutResults, forResults());
    scatterFactor_.returned(op.cutLate,
                            contributions_.forFirst(forContributions()));
  }
  contributions_.add(op.cutLate, op.cutAbsent);
  stages_.add(op.cutLate + op.cutAbsent, op.cutResults);
}

}  // namespace ubt
