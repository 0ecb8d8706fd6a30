// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <memory>
#include <string>
#include <vector>

namespace gloo {
namespace benchmark {

// Messages between ranks, outside of measurements. Exact, over a context of its
// own. One thread at a time; all ranks make the same calls in the same order.
// Throws Gloo's errors.
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
  // Throws std::runtime_error, on every rank, unless all pass the same text.
  // The error shows two texts that differ.
  void expectSame(const std::string& what, const std::string& text);

 private:
  const std::shared_ptr<Context> context_;
};

}  // namespace benchmark
}  // namespace gloo
