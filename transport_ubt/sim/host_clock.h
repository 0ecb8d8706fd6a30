// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/sim/faults.h"

namespace ubt::sim {

// Converts between the time of the world and the time that a host's clock
// shows. The clock never runs backwards. By default it shows the world's time.
class HostClock {
 public:
  HostClock() = default;
  // The host's clock starts at the world's `start`. The seed decides how it
  // differs, within `clocks`.
  HostClock(const Clocks& clocks, TimePoint start, uint64_t seed)
      : start_(start), slew_(clocks.slew), slewEvery_(clocks.slewEvery) {
    std::mt19937_64 random(seed);
    const double share = std::uniform_real_distribution<>(-1, 1)(random);
    rate_ = clocks.rate * share;
    offset_ =
        clocks.offset == Duration{0}
            ? Duration{0}
            : Duration(static_cast<int64_t>(random() % clocks.offset.count()));
    differs_ = offset_ != Duration{0} || rate_ != 0 || slew_ != 0;
  }

  TimePoint shows(TimePoint world) const {
    if (!differs_ || world == kNever) {
      return world;
    }
    const Duration since = world - start_;
    double more = rate_ * static_cast<double>(since.count());
    if (slew_ > 0 && slewEvery_ > Duration{0}) {
      const Duration in = since % slewEvery_;
      more +=
          slew_ * static_cast<double>(std::min(in, slewEvery_ - in).count());
    }
    return world + offset_ + Duration(static_cast<int64_t>(more));
  }

  // The first time of the world when the clock shows `local` or later.
  TimePoint when(TimePoint local) const {
    if (!differs_ || local == kNever) {
      return local;
    }
    TimePoint world = local - offset_;
    for (int i = 0; i < 8; i++) {
      world += local - shows(world);
    }
    while (shows(world) < local) {
      world += Duration{1};
    }
    while (shows(world - Duration{1}) >= local) {
      world -= Duration{1};
    }
    return world;
  }

 private:
  TimePoint start_{};
  bool differs_ = false;
  Duration offset_{0};
  double rate_ = 0;
  double slew_ = 0;
  Duration slewEvery_{0};
};

}  // namespace ubt::sim
