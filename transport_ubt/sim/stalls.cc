// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/stalls.h"

#include <algorithm>
#include <iterator>

#include "transport_ubt/sim/inputs.h"

namespace ubt::sim {

Stalls::Stalls(const SimOptions& options, int rank, TimePoint start)
    : options_(options),
      random_(mix(options.seed ^ 0x7374616c6c) + rank),
      drawn_(start) {}

void Stalls::drawUntil(TimePoint until) {
  if (options_.stallGap == Duration{0}) {
    return;
  }
  std::exponential_distribution<> gaps(
      1 / static_cast<double>(options_.stallGap.count()));
  std::uniform_int_distribution<int64_t> lengths(options_.stallLeast.count(),
                                                 options_.stallMost.count());
  while (stalls_.empty() || stalls_.back().from < until) {
    const TimePoint from =
        drawn_ + Duration(static_cast<int64_t>(gaps(random_)));
    drawn_ = from + Duration(lengths(random_));
    stalls_.push_back({from, drawn_});
  }
}

std::vector<Stalls::Stall>::const_iterator Stalls::after(TimePoint time) const {
  return std::upper_bound(
      stalls_.begin(), stalls_.end(), time, [](TimePoint t, const Stall& s) {
        return t < s.to;
      });
}

TimePoint Stalls::end(TimePoint begin, Duration work) {
  drawUntil(begin);
  TimePoint end = begin + work;
  for (size_t i = after(begin) - stalls_.begin();
       i < stalls_.size() && stalls_[i].from < end;
       i++) {
    end += stalls_[i].to - std::max(begin, stalls_[i].from);
    drawUntil(end);
  }
  return end;
}

TimePoint Stalls::begin(TimePoint end, Duration work) const {
  TimePoint begin = end - work;
  for (auto stall = std::make_reverse_iterator(after(end));
       stall != stalls_.rend() && stall->to > begin;
       ++stall) {
    begin -= stall->to - stall->from;
  }
  return begin;
}

Duration Stalls::stoodStill(TimePoint from, TimePoint to) {
  drawUntil(to);
  Duration still{0};
  for (auto stall = after(from); stall != stalls_.end() && stall->from < to;
       ++stall) {
    still += std::min(to, stall->to) - std::max(from, stall->from);
  }
  return still;
}

}  // namespace ubt::sim
