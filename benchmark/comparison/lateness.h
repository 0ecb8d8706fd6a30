// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

namespace gloo {
namespace compare {

// A rank that computes for longer than the others in some of its iterations.
// Its process goes on: only the call comes late.
struct Lateness {
  int rank = -1;  // none
  double share = 0;
  std::chrono::duration<double> time{0};
  uint64_t seed = 0;

  // By how much, in that iteration: the same ones for every contender.
  std::chrono::duration<double> in(size_t iteration) const {
    std::mt19937_64 chance(seed * 1000003 + iteration);
    chance.discard(1);
    return std::uniform_real_distribution<double>()(chance) < share
               ? time
               : std::chrono::duration<double>(0);
  }
};

}  // namespace compare
}  // namespace gloo
