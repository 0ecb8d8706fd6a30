// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/paper_bounds.h"

#include <algorithm>

#include "transport_ubt/core/learn/size_class.h"

namespace ubt {

OpBounds PaperBounds::boundsFor(const OpShape& shape,
                                Duration /*lateness*/,
                                Duration limit) {
  OpBounds bounds;
  bounds.limit = limit;
  const Classes& classes = classes_[shape.hierarchical() ? 1 : 0];
  const auto found = classes.find(sizeClassOf(shape.bytes()));
  if (found == classes.end() || !isWarm(found->second)) {
    return bounds;
  }
  bounds.rule = OpBounds::Rule::kPaper;
  const Times& times = found->second;
  const Duration most = mostOfStage(limit, shape.hierarchical());
  const auto stop = [&](const PaperStage& stage) {
    return PaperStop{std::min(stage.bound(), most),
                     wholeNanoseconds(times.share.value() * stage.usual())};
  };
  // An op of few elements may have no data of one stage here.
  bounds.paperScatter =
      stop(times.scatter.any() ? times.scatter : times.results);
  bounds.paperExchange = stop(times.exchange);
  bounds.paperResults =
      stop(times.results.any() ? times.results : times.scatter);
  return bounds;
}

void PaperBounds::returned(const OpSample& op) {
  Times& times = classes_[op.hierarchical ? 1 : 0][sizeClassOf(op.bytes)];
  times.ops++;
  times.scatter.returned(op.scatterEnd);
  times.exchange.returned(op.exchangeEnd);
  times.results.returned(op.resultsEnd);
  times.share.returned(op.missing());
  if (isWarm(times)) {
    times.scatter.fix();
    times.exchange.fix();
    times.results.fix();
  }
}

}  // namespace ubt
