// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace ubt {

// How often each tag was used, for ever, in little memory: neighbouring tags
// used equally often share an entry. Gloo's own programs use one tag over and
// over; PyTorch's tags count up and never repeat, but other collectives take
// some of them. Where such gaps make many entries, the lower half of them is
// joined across its gaps.
class TagCounts {
 public:
  // With more entries than this, gaps are given up.
  static constexpr size_t kEntriesMax = 4096;

  // How often `tag` was used so far. Of a tag in a gap that was given up, which
  // was never used, as often as its neighbours: ranks that have not all given
  // it up would disagree on its first use, thousands of newer tags later.
  uint32_t used(uint32_t tag) const {
    const auto range = find(tag);
    return range == ranges_.end() ? 0 : range->second.count;
  }

  // Uses the tag once more; returns how often it was used before.
  uint32_t use(uint32_t tag) {
    const uint32_t before = used(tag);
    isolate(tag);
    ranges_[tag] = Range{tag, before + 1};
    joinNeighbours(tag);
    if (ranges_.size() > most_) {
      joinLowerHalf();
      most_ = std::max(kEntriesMax, ranges_.size() + kEntriesMax / 4);
    }
    return before;
  }

  // Entries held; for tests of compactness.
  size_t entries() const { return ranges_.size(); }

 private:
  struct Range {
    uint32_t last = 0;  // inclusive
    uint32_t count = 0;
  };
  using Ranges = std::map<uint32_t, Range>;  // by first tag

  Ranges::const_iterator find(uint32_t tag) const {
    auto after = ranges_.upper_bound(tag);
    if (after == ranges_.begin()) {
      return ranges_.end();
    }
    --after;
    return after->second.last >= tag ? after : ranges_.end();
  }

  // Splits the range around `tag` so that no range holds it.
  void isolate(uint32_t tag) {
    const auto found = find(tag);
    if (found == ranges_.end()) {
      return;
    }
    const uint32_t first = found->first;
    const Range range = found->second;
    ranges_.erase(found);
    if (first < tag) {
      ranges_[first] = Range{tag - 1, range.count};
    }
    if (tag < range.last) {
      ranges_[tag + 1] = Range{range.last, range.count};
    }
  }

  void joinNeighbours(uint32_t tag) {
    auto here = ranges_.find(tag);
    if (here != ranges_.begin()) {
      const auto before = std::prev(here);
      if (before->second.last + uint64_t{1} == tag &&
          before->second.count == here->second.count) {
        before->second.last = here->second.last;
        ranges_.erase(here);
        here = before;
      }
    }
    const auto after = std::next(here);
    if (after != ranges_.end() &&
        here->second.last + uint64_t{1} == after->first &&
        here->second.count == after->second.count) {
      here->second.last = after->second.last;
      ranges_.erase(after);
    }
  }

  void joinLowerHalf() {
    auto here = ranges_.begin();
    for (size_t left = ranges_.size() / 2; left > 0; left--) {
      const auto after = std::next(here);
      if (after->second.count == here->second.count) {
        here->second.last = after->second.last;
        ranges_.erase(after);
      } else {
        here = after;
      }
    }
  }

  Ranges ranges_;
  size_t most_ = kEntriesMax;
};

}  // namespace ubt
