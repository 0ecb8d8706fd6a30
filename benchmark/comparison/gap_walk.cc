// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/gap_walk.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"

namespace gloo {
namespace compare {

GapWalk::GapWalk(int ranks, size_t elements) : elements_(elements) {
  now_.missing.resize(ranks);
  now_.contributors = ranks;
}

bool GapWalk::add(const std::vector<RankRange>& ranges, bool filled) {
  const int ranks = static_cast<int>(now_.missing.size());
  for (const auto& range : ranges) {
    const bool known = range.rank >= (filled ? -1 : 0) && range.rank < ranks;
    if (!(known || (filled && range.rank == Gaps::kUnknown)) ||
        range.offset > elements_ || range.count > elements_ - range.offset) {
      return false;
    }
    changes_.push_back({range.offset, range.rank, filled, true});
    changes_.push_back({range.offset + range.count, range.rank, filled, false});
  }
  return true;
}

bool GapWalk::begin(const Gaps& gaps) {
  if (!add(gaps.missing, false) || !add(gaps.filled, true)) {
    return false;
  }
  // At equal indices ends come first, so that adjacent ranges join.
  std::sort(
      changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
        return a.index != b.index ? a.index < b.index : a.begins < b.begins;
      });
  next_ = changes_.begin();
  return true;
}

// Returns false if ranges overlap.
bool GapWalk::apply(const Change& change) {
  if (change.filled) {
    if ((now_.filled == GapRun::kNotFilled) != change.begins) {
      return false;
    }
    now_.filled = change.begins ? change.rank : GapRun::kNotFilled;
    return true;
  }
  if (now_.missing[change.rank] == change.begins) {
    return false;
  }
  now_.missing[change.rank] = change.begins;
  now_.contributors += change.begins ? -1 : 1;
  return true;
}

bool GapWalk::next(size_t end, GapRun* run) {
  UBT_REQUIRE(at() < end);
  now_.begin = now_.end;
  for (; next_ != changes_.end() && next_->index == now_.begin; ++next_) {
    if (!apply(*next_)) {
      return false;
    }
  }
  now_.end = next_ == changes_.end() ? end : std::min(end, next_->index);
  *run = now_;
  return true;
}

}  // namespace compare
}  // namespace gloo
