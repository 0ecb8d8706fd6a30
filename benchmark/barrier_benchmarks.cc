// SPDX-License-Identifier: Apache-2.0
#include <gloo/barrier_all_to_all.h>
#include <gloo/barrier_all_to_one.h>

#include "benchmark/registry.h"

namespace gloo {
namespace benchmark {

namespace {

// Barriers have no buffers; the number of elements does not matter.
template <typename T>
class AllToAll : public TypedBenchmark<T> {
 public:
  using TypedBenchmark<T>::TypedBenchmark;

  void initialize(size_t /* elements */) override {
    barrier_ = std::make_unique<BarrierAllToAll>(this->context_);
  }

  void run() override { barrier_->run(); }

 private:
  std::unique_ptr<Barrier> barrier_;
};

template <typename T>
class AllToOne : public TypedBenchmark<T> {
 public:
  using TypedBenchmark<T>::TypedBenchmark;

  void initialize(size_t /* elements */) override {
    // Rank 0 measures. If it were the root, its own way to the root would be
    // missing from the time. So another rank is the root.
    const int root = this->size() > 1 ? 1 : 0;
    barrier_ = std::make_unique<BarrierAllToOne>(this->context_, root);
  }

  void run() override { barrier_->run(); }

 private:
  std::unique_ptr<Barrier> barrier_;
};

}  // namespace

void addBarrier(Registry& registry) {
  registry.push_back(
      {"barrier_all_to_all", "every rank tells every", ofFloats<AllToAll>()});
  registry.push_back(
      {"barrier_all_to_one", "one rank gathers all", ofFloats<AllToOne>()});
}

}  // namespace benchmark
}  // namespace gloo
