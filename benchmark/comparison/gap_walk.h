// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"

namespace gloo {
namespace compare {

// A rank's input at an index.
using Input = float (*)(int rank, size_t index);

// A run of elements for all of which each rank counts for the same.
struct GapRun {
  static constexpr int kNotFilled = -2;

  size_t begin = 0;
  size_t end = 0;
  std::vector<bool> missing;  // by rank
  int contributors = 0;
  // Whose contribution stands in; -1: zero does; Gaps::kUnknown: nobody knows.
  int filled = kNotFilled;

  // How often a rank's contribution is in the result, if that is plain.
  double weight(int rank) const {
    const double ranks = static_cast<double>(missing.size());
    if (filled != kNotFilled) {
      return filled == rank ? ranks : 0;
    }
    return missing[rank] ? 0 : ranks / contributors;
  }
};

// Goes over the elements and knows what each rank counts for there.
class GapWalk {
 public:
  GapWalk(int ranks, size_t elements);

  // False if a range makes no sense.
  bool begin(const Gaps& gaps);

  // Where the next run begins.
  size_t at() const { return now_.end; }
  // That run, as far as it goes without leaving [0, end). False if ranges
  // overlap. REQUIRES at() < end, which is at most the number of elements.
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
