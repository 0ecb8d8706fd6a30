// SPDX-License-Identifier: Apache-2.0
#include <gloo/scatter.h>

#include "benchmark/registry.h"

namespace gloo {
namespace benchmark {

namespace {

constexpr size_t kRoot = 0;

// The root's buffer number r goes to rank r.
template <typename T>
class Scatter : public TypedBenchmark<T> {
 public:
  Scatter(std::shared_ptr<Context> context, const Options& options)
      : TypedBenchmark<T>(context, options), collective_(context) {}

  void initialize(size_t elements) override {
    const auto pointers = this->allocate(this->size(), elements);
    output_.resize(elements);
    collective_.setRoot(static_cast<int>(kRoot));
    if (this->rank() == kRoot) {
      collective_.setInputs(pointers, elements);
    }
    collective_.setOutput(output_.data(), elements);
  }

  void run() override { scatter(collective_); }

  void verify(Mismatches& mismatches) override {
    const auto pattern = this->patternOf(this->size());
    const size_t buffer = kRoot * this->size() + this->rank();
    for (size_t i = 0; i < output_.size(); i++) {
      this->expect(i, output_[i], pattern.value(buffer, i), 0, mismatches);
    }
  }

 private:
  ScatterOptions collective_;
  std::vector<T> output_;
};

}  // namespace

void addScatter(Registry& registry) {
  registry.push_back(
      {"scatter", "a buffer of rank 0 to each rank", ofFloats<Scatter>()});
}

}  // namespace benchmark
}  // namespace gloo
