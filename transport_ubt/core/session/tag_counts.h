// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/require.h"

namespace ubt {

// The use counts of tags, in bounded memory.
//
// Promise: a count is exact, or use() may not be called (knows()). All ranks
// use each tag equally often, but in different orders, because their threads
// mix the tags. A count that depended on the order would give one op two ids,
// and its ranks would wait for each other.
//
// Neighbouring tags that were used equally often share an entry. So a tag that
// is used over and over is one entry, and tags that count up are one entry as
// long as there are no gaps. Each gap, and each scattered tag, costs one more
// entry of 16 bytes. With more than `entriesMax` entries the counts of the
// lower half of the tags are given up. First only tags that were used once lose
// their counts; if that does not free enough, all tags of that half do.
// PyTorch's tags count up and are used once, so it never meets a lost count.
// A program that uses such a tag again gets an error (Session::enter).
class TagCounts {
 public:
  // REQUIRES entriesMax >= 8.
  explicit TagCounts(size_t entriesMax) : entriesMax_(entriesMax) {
    UBT_REQUIRE(entriesMax >= 8);
  }

  // Whether the tag's count is known.
  bool knows(uint32_t tag) const {
    const size_t at = rangeOf(tag);
    return at == ranges_.size() || ranges_[at].exact;
  }

  // The count of `tag`; if it is not known: an upper limit of it.
  uint32_t used(uint32_t tag) const {
    const size_t at = rangeOf(tag);
    return at == ranges_.size() ? 0 : ranges_[at].count;
  }

  // Uses the tag, and returns its count before that. Throws only if an
  // allocation fails; then nothing has changed. REQUIRES knows(tag).
  uint32_t use(uint32_t tag) {
    UBT_REQUIRE(knows(tag));
    makeRoom();
    size_t at = rangeOf(tag);
    const uint32_t before = at == ranges_.size() ? 0 : ranges_[at].count;
    at = isolate(tag, at);
    ranges_[at].count = before + 1;
    ranges_[at].exact = true;
    joinNeighbours(at);
    if (ranges_.size() > entriesMax_) {
      giveUpLowerHalf();
    }
    return before;
  }

  // Entries held; for tests of compactness.
  size_t entries() const { return ranges_.size(); }

 private:
  struct Range {
    uint32_t first = 0;
    uint32_t last = 0;  // inclusive
    uint32_t count = 0;
    bool exact = true;  // false: `count` is an upper limit
  };

  // The first range that begins after the tag.
  size_t after(uint32_t tag) const {
    return std::upper_bound(ranges_.begin(),
                            ranges_.end(),
                            tag,
                            [](uint32_t value, const Range& range) {
                              return value < range.first;
                            }) -
           ranges_.begin();
  }

  // The range that holds the tag; ranges_.size(): none does.
  size_t rangeOf(uint32_t tag) const {
    const size_t next = after(tag);
    return next > 0 && ranges_[next - 1].last >= tag ? next - 1
                                                     : ranges_.size();
  }

  // Makes room for the two entries that one use may add.
  void makeRoom() {
    constexpr size_t kFirst = 16;
    if (ranges_.capacity() < ranges_.size() + 2) {
      ranges_.reserve(
          std::max(kFirst, std::min(2 * ranges_.capacity(), entriesMax_ + 3)));
    }
  }

  void insert(size_t at, const Range& range) {
    ranges_.insert(ranges_.begin() + static_cast<std::ptrdiff_t>(at), range);
  }
  void erase(size_t at) {
    ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  // Makes a range that holds only the tag, from the one at `at` if there is
  // one. Returns its index.
  size_t isolate(uint32_t tag, size_t at) {
    if (at == ranges_.size()) {
      at = after(tag);
      insert(at, Range{tag, tag});
      return at;
    }
    Range whole = ranges_[at];
    if (tag < whole.last) {
      Range rest = whole;
      rest.first = tag + 1;
      insert(at + 1, rest);
    }
    ranges_[at].last = tag;
    if (whole.first < tag) {
      ranges_[at].last = tag - 1;
      insert(++at, Range{tag, tag});
    }
    return at;
  }

  // Joins ranges_[at], which is exact and has one tag, with equal neighbours.
  void joinNeighbours(size_t at) {
    if (at + 1 < ranges_.size() && mayJoin(ranges_[at], ranges_[at + 1])) {
      ranges_[at].last = ranges_[at + 1].last;
      erase(at + 1);
    }
    if (at > 0 && mayJoin(ranges_[at - 1], ranges_[at])) {
      ranges_[at - 1].last = ranges_[at].last;
      erase(at);
    }
  }
  static bool mayJoin(const Range& left, const Range& right) {
    return left.last + uint64_t{1} == right.first &&
           left.count == right.count && left.exact && right.exact;
  }

  void giveUpLowerHalf() {
    giveUpLowerHalf(true);
    if (ranges_.size() > entriesMax_ / 4 * 3) {
      giveUpLowerHalf(false);
    }
  }
  void giveUpLowerHalf(bool usedOnceAlone) {
    const size_t half = ranges_.size() / 2;
    size_t kept = 0;
    for (size_t at = 1; at < half; at++) {
      Range& last = ranges_[kept];
      const Range& next = ranges_[at];
      if (!usedOnceAlone || (last.count == 1 && next.count == 1)) {
        last = Range{
            last.first, next.last, std::max(last.count, next.count), false};
      } else {
        ranges_[++kept] = next;
      }
    }
    ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(kept) + 1,
                  ranges_.begin() + static_cast<std::ptrdiff_t>(half));
  }

  const size_t entriesMax_;
  std::vector<Range> ranges_;  // sorted; they do not overlap
};

}  // namespace ubt
