// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// A deadline (or kNever) for each rank, and the earliest of them. A tree of
// minima finds it without a look at every rank when a packet comes; a job may
// have a thousand ranks. Allocates when the first deadline is set.
class Deadlines {
 public:
  // REQUIRES ranks > 0.
  explicit Deadlines(int ranks) : leaves_(1) {
    UBT_REQUIRE(ranks > 0);
    while (leaves_ < static_cast<size_t>(ranks)) {
      leaves_ *= 2;
    }
  }

  // The most bytes that one object allocates.
  static size_t bytesFor(int ranks) {
    return 4 * static_cast<size_t>(ranks) * sizeof(TimePoint);
  }

  TimePoint at(int rank) const {
    return tree_.empty() ? kNever : tree_[leaves_ + rank];
  }
  TimePoint earliest() const { return tree_.empty() ? kNever : tree_[1]; }

  // Takes O(log ranks) steps.
  void set(int rank, TimePoint when) {
    if (tree_.empty()) {
      if (when == kNever) {
        return;
      }
      tree_.assign(2 * leaves_, kNever);
    }
    size_t node = leaves_ + rank;
    tree_[node] = when;
    while (node > 1) {
      node /= 2;
      const TimePoint least = std::min(tree_[2 * node], tree_[2 * node + 1]);
      if (tree_[node] == least) {
        return;
      }
      tree_[node] = least;
    }
  }
  void clear() { tree_.clear(); }

  // Calls act(rank), in rank order, for each rank whose deadline has passed.
  // act may set the deadline of that rank.
  template <typename Act>
  void forDue(TimePoint now, const Act& act) {
    if (!tree_.empty()) {
      visit(1, now, act);
    }
  }

 private:
  template <typename Act>
  void visit(size_t node, TimePoint now, const Act& act) {
    if (now < tree_[node]) {
      return;
    }
    if (node >= leaves_) {
      act(static_cast<int>(node - leaves_));
      return;
    }
    visit(2 * node, now, act);
    visit(2 * node + 1, now, act);
  }

  size_t leaves_;                // a power of 2
  std::vector<TimePoint> tree_;  // node 1 is the root; the leaves are the ranks
};

}  // namespace ubt
