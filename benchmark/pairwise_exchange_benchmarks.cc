// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gloo/pairwise_exchange.h>

#include "benchmark/registry.h"

namespace gloo {
namespace benchmark {

namespace {

// Elements are bytes, divided over the destinations.
class Exchange : public TypedBenchmark<char> {
 public:
  using TypedBenchmark<char>::TypedBenchmark;

  void initialize(size_t elements) override {
    algorithm_ = std::make_unique<PairwiseExchange>(
        context_, static_cast<int>(elements), options_.destinations);
  }

  void run() override { algorithm_->run(); }

 private:
  std::unique_ptr<PairwiseExchange> algorithm_;
};

void check(const Options& options) {
  if (options.size % 2 != 0) {
    throw UsageError(fmt::format(
        "--size {}: pairwise_exchange needs an even number of processes",
        options.size));
  }
  // A rank's peer number i is the rank with bit i flipped.
  for (int i = 0; i < options.destinations; i++) {
    for (int rank = 0; rank < options.size; rank++) {
      if (i >= 30 || (rank ^ (1 << i)) >= options.size) {
        throw UsageError(fmt::format(
            "--destinations {}: with {} processes, rank {} has only {}",
            options.destinations,
            options.size,
            rank,
            i));
      }
    }
  }
  if (options.elements > 0 && options.elements < options.destinations) {
    throw UsageError(fmt::format(
        "--elements {}: every one of the {} destinations needs a byte",
        options.elements,
        options.destinations));
  }
}

}  // namespace

void addPairwiseExchange(Registry& registry) {
  registry.push_back(
      {"pairwise_exchange",
       "bytes between pairs, both ways",
       [](std::shared_ptr<Context> context, const Options& options) {
         return std::make_unique<Exchange>(std::move(context), options);
       },
       check});
}

}  // namespace benchmark
}  // namespace gloo
