// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

namespace gloo {
namespace compare {

// In some iterations a rank computes for longer than the others. Its process
// continues to run; only its call is late.
struct LateRanks {
  static constexpr int kNobody = -1;

  int rank = kNobody;   // the late rank
  bool anyone = false;  // or each time another rank except 0
  double share = 0;     // of the iterations
  std::chrono::duration<double> time{0};
  uint64_t seed = 0;

  // The late rank of that iteration, among `ranks` ranks. Equal for every
  // contender.
  int in(size_t iteration, int ranks) const {
    std::mt19937_64 chance(seed * 1000003 + iteration);
    chance.discard(1);
    if (std::uniform_real_distribution<double>()(chance) >= share) {
      return kNobody;
    }
    return anyone && ranks > 1
               ? std::uniform_int_distribution<>(1, ranks - 1)(chance)
               : rank;
  }
};

}  // namespace compare
}  // namespace gloo
