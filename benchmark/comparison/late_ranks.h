// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

namespace gloo {
namespace compare {

// In some iterations ranks compute for longer than the others. Their processes
// continue to run; only their calls are late.
struct LateRanks {
  enum class Who {
    kNobody,
    kOne,   // always `rank`
    kAny,   // in each such iteration another rank except 0
    kEach,  // each rank for itself, in its own share of iterations
  };

  Who who = Who::kNobody;
  int rank = -1;     // of kOne
  double share = 0;  // of the iterations
  std::chrono::duration<double> time{0};
  uint64_t seed = 0;

  // Whether that rank is late in that iteration. Equal for every contender.
  bool isLate(int asked, size_t iteration, int ranks) const {
    if (who == Who::kNobody) {
      return false;
    }
    if (who == Who::kEach) {
      return drawn(asked, iteration, ranks) && !allDrawn(iteration, ranks);
    }
    std::mt19937_64 chance(seed * 1000003 + iteration);
    chance.discard(1);
    if (std::uniform_real_distribution<double>()(chance) >= share) {
      return false;
    }
    return asked == (who == Who::kOne ? rank
                     : ranks > 1
                         ? std::uniform_int_distribution<>(1, ranks - 1)(chance)
                         : -1);
  }

 private:
  bool drawn(int asked, size_t iteration, int ranks) const {
    std::mt19937_64 chance(seed * 1000003 + iteration * ranks + asked);
    chance.discard(1);
    return std::uniform_real_distribution<double>()(chance) < share;
  }
  // Then nobody is late: an iteration needs a rank whose time counts.
  bool allDrawn(size_t iteration, int ranks) const {
    int late = 0;
    for (int other = 0; other < ranks; other++) {
      late += drawn(other, iteration, ranks);
    }
    return late == ranks;
  }
};

}  // namespace compare
}  // namespace gloo
