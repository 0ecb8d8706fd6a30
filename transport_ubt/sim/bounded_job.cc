// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/bounded_job.h"

#include <algorithm>
#include <utility>

#include "transport_ubt/core/base/require.h"

namespace ubt::sim {

BoundedJob::BoundedJob(const SimOptions& options, const Reduction& reduction)
    : options_(options),
      hosts_(
          options_,
          reduction,
          nullptr,
          [this](const std::string& what) { violations_.push_back(what); },
          [this](int rank) { progress(rank); }),
      start_(hosts_.events().now()),
      calls_(options.ranks) {
  UBT_REQUIRE(options.contexts == 1 && options.ranks > 1);
}

void BoundedJob::enter(
    int rank, uint32_t op, Duration at, float* bucket, uint32_t elements) {
  UBT_REQUIRE(rank >= 0 && rank < options_.ranks);
  underWay_++;
  const Call call{rank, op, bucket, elements, {}};
  hosts_.events().at(start_ + at, [this, call] { begin(call); });
}

void BoundedJob::begin(Call call) {
  Session* const session = hosts_.session(call.rank, 0);
  const TimePoint now = hosts_.nowAt(call.rank);
  if (!session->failure().empty()) {
    session->announceFailure(now);
    end(call, session->failure(), {});
    hosts_.pump(call.rank);
    return;
  }
  OpShape shape;
  shape.elements = call.elements;
  shape.type = ElementType::kFloat32;
  shape.fingerprint = options_.protocolOf(call.rank).fingerprint();
  if (options_.groups > 1) {
    shape.fingerprint |= OpShape::kHierarchical;
  }
  // PyTorch gives each op of a group a tag of its own.
  shape.space = TagSpace::kOptions;
  call.id = session->enter(
      now, call.op, shape, reinterpret_cast<std::byte*>(call.bucket));
  calls_[call.rank].push_back(call);
  hosts_.pump(call.rank);
}

void BoundedJob::progress(int rank) {
  Session* const session = hosts_.session(rank, 0);
  auto& calls = calls_[rank];
  for (size_t i = 0; i < calls.size();) {
    if (!session->finished(calls[i].id)) {
      i++;
      continue;
    }
    const Call call = calls[i];
    calls.erase(calls.begin() + static_cast<int64_t>(i));
    const std::string why = session->failure(call.id);
    end(call, why, session->leave(hosts_.nowAt(rank), call.id));
  }
}

void BoundedJob::end(const Call& call,
                     const std::string& why,
                     OpReport report) {
  underWay_--;
  ended_.push_back({call.rank, call.op, now(), why, std::move(report)});
}

bool BoundedJob::next(EndedCall* ended) {
  // Each call has a timeout, so events do not run out before it ends.
  while (ended_.empty() && underWay_ > 0 && hosts_.events().step()) {
  }
  if (ended_.empty()) {
    return false;
  }
  *ended = std::move(ended_.front());
  ended_.pop_front();
  return true;
}

}  // namespace ubt::sim
