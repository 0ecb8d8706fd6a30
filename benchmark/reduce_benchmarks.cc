// SPDX-License-Identifier: Apache-2.0
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>

#include <algorithm>

#include "benchmark/registry.h"

namespace gloo {
namespace benchmark {

namespace {

constexpr int kRoot = 0;

// The sum of one buffer of each rank, at the root.
template <typename T>
class Reduce : public TypedBenchmark<T> {
 public:
  Reduce(std::shared_ptr<Context> context, const Options& options)
      : TypedBenchmark<T>(context, options), collective_(context) {}

  void initialize(size_t elements) override {
    auto* input = this->allocate(1, elements).front();
    output_.resize(elements);
    void (*add)(void*, const void*, const void*, size_t) = &sum<T>;
    collective_.setRoot(kRoot);
    collective_.setReduceFunction(add);
    // Two segments, as in Gloo's own benchmark: whole elements, at least one.
    collective_.setMaxSegmentSize(sizeof(T) *
                                  std::max<size_t>(1, elements / 2));
    collective_.setInput(input, elements);
    collective_.setOutput(output_.data(), elements);
  }

  void run() override { reduce(collective_); }

  void verify(Mismatches& mismatches) override {
    if (this->context_->rank != kRoot) {
      return;
    }
    const auto pattern = this->patternOf(1);
    for (size_t i = 0; i < output_.size(); i++) {
      this->expect(
          i, output_[i], pattern.sum(i), pattern.tolerance(), mismatches);
    }
  }

 private:
  ReduceOptions collective_;
  std::vector<T> output_;
};

// Each rank gets its part of the sum of all buffers, in place.
template <typename T>
class ReduceScatter : public TypedBenchmark<T> {
 public:
  using TypedBenchmark<T>::TypedBenchmark;

  void initialize(size_t elements) override {
    const auto pointers = this->allocate(this->inputs(), elements);
    const size_t chunk = (elements + this->size() - 1) / this->size();
    for (size_t i = 0; i < this->size(); i++) {
      const size_t begin = std::min(i * chunk, elements);
      const size_t end = std::min(begin + chunk, elements);
      counts_.push_back(static_cast<int>(end - begin));
    }
    begin_ = std::min(this->rank() * chunk, elements);
    algorithm_ = std::make_unique<ReduceScatterHalvingDoubling<T>>(
        this->context_, pointers, static_cast<int>(elements), counts_);
  }

  void run() override { algorithm_->run(); }

  void verify(Mismatches& mismatches) override {
    const auto pattern = this->patternOf(this->inputs());
    const auto count = static_cast<size_t>(counts_[this->rank()]);
    for (const auto& buffer : this->buffers_) {
      for (size_t i = 0; i < count; i++) {
        this->expect(i,
                     buffer[i],
                     pattern.sum(begin_ + i),
                     pattern.tolerance(),
                     mismatches);
      }
    }
  }

 private:
  std::vector<int> counts_;
  size_t begin_ = 0;
  std::unique_ptr<ReduceScatterHalvingDoubling<T>> algorithm_;
};

}  // namespace

void addReduce(Registry& registry) {
  registry.push_back({"reduce",
                      "sum of a buffer of each rank, at rank 0",
                      ofFloats<Reduce>()});
  registry.push_back({"reduce_scatter",
                      "sum of all buffers, a part to each rank",
                      ofFloats<ReduceScatter>()});
}

}  // namespace benchmark
}  // namespace gloo
