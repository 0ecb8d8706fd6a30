// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/step_times.h"

#include "benchmark/samples.h"

namespace gloo {
namespace compare {

std::vector<double> stepTimes(const std::vector<double>& finished,
                              size_t iterations,
                              size_t perTurn) {
  std::vector<double> steps;
  double last = 0;
  for (size_t i = 0; i < iterations; i++) {
    std::vector<double> ends;
    for (size_t k = i; k < finished.size(); k += iterations) {
      ends.push_back(finished[k]);
    }
    const double end =
        benchmark::Distribution<double>(std::move(ends)).percentile(.5);
    steps.push_back(i % perTurn == 0 ? end : end - last);
    last = end;
  }
  return steps;
}

}  // namespace compare
}  // namespace gloo
