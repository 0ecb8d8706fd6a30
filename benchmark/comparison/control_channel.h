// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <memory>
#include <vector>

namespace gloo {
namespace compare {

// Agreement between the ranks between measurements. Exact, over a context of
// its own. All ranks must make the same calls in the same order. Throws Gloo's
// errors.
class ControlChannel {
 public:
  explicit ControlChannel(std::shared_ptr<Context> context);

  int rank() const;
  int size() const;

  void barrier();
  // Every rank gets rank 0's value.
  double fromRank0(double value);
  // Element by element over all ranks.
  std::vector<double> max(std::vector<double> values);
  std::vector<double> sum(std::vector<double> values);
  // All ranks' values, in rank order. The number of values may differ.
  std::vector<double> concatenate(std::vector<double> values);

 private:
  const std::shared_ptr<Context> context_;
};

}  // namespace compare
}  // namespace gloo
