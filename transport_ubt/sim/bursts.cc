// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/bursts.h"

#include <algorithm>
#include <numeric>

namespace ubt::sim {

Bursts::Bursts(const SimOptions& options, TimePoint start)
    : options_(options),
      random_(options.seed ^ 0x6275727374),
      hosts_(options.ranks),
      period_(start) {
  std::iota(hosts_.begin(), hosts_.end(), 0);
  if (options.burstEvery > Duration{0}) {
    const double bytesPerSecond =
        options.bytesPerSecond * options.burstShare * options.burstSources;
    interval_ =
        Duration(static_cast<int64_t>(1e9 * kChunkBytes / bytesPerSecond));
    drawBurst();
  }
}

void Bursts::drawBurst() {
  const auto below = [this](Duration most) {
    return Duration(random_() % std::max<int64_t>(1, most.count()));
  };
  const Duration length =
      options_.burstLeast + below(options_.burstMost - options_.burstLeast);
  std::shuffle(hosts_.begin(), hosts_.end(), random_);
  at_ = period_ + below(options_.burstEvery - length);
  end_ = at_ + length;
  period_ += options_.burstEvery;
}

bool Bursts::next(TimePoint until, Chunk* out) {
  if (at_ > until) {
    return false;
  }
  *out = {at_, hosts_[1 + turn_++ % options_.burstSources], hosts_[0]};
  at_ += interval_;
  if (at_ >= end_) {
    drawBurst();
  }
  return true;
}

}  // namespace ubt::sim
