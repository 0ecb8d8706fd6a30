// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"

namespace gloo {
namespace compare {

// A rank's input at an index.
using Input = float (*)(int rank, size_t index);

// A range over which each rank's weight is constant.
struct GapRun {
  static constexpr int kNotFilled = -2;

  size_t begin = 0;
  size_t end = 0;
  std::vector<bool> missing;  // by rank
  int contributors = 0;
  // The rank whose contribution replaces the result; -1: zero replaces it;
  // Gaps::kUnknown: unknown.
  int filled = kNotFilled;

  // The factor of a rank's contribution in the result, if that is plain.
  double weight(int rank) const {
    const double ranks = static_cast<double>(missing.size());
    if (filled != kNotFilled) {
      return filled == rank ? ranks : 0;
    }
    return missing[rank] ? 0 : ranks / contributors;
  }
};

// Walks over the elements and reports each rank's weight.
class GapWalk {
 public:
  GapWalk(int ranks, size_t elements);

  // Returns false if a range is invalid.
  bool begin(const Gaps& gaps);

  // The first element of the next run.
  size_t at() const { return now_.end; }
  // The next run, cut off at `end`. Returns false if ranges overlap. REQUIRES
  // at() < end, and that `end` is at most the number of elements.
  bool next(size_t end, GapRun* run);

 private:
  struct Change {
    size_t index;
    int rank;
    bool filled;
    bool begins;
  };

  bool add(const std::vector<RankRange>& ranges, bool filled);
  bool apply(const Change& change);

  const size_t elements_;
  std::vector<Change> changes_;
  std::vector<Change>::const_iterator next_;
  GapRun now_;
};

}  // namespace compare
}  // namespace gloo
