// SPDX-License-Identifier: Apache-2.0
#include <gloo/allgather.h>
#include <gloo/allgather_ring.h>
#include <gloo/allgatherv.h>

#include "benchmark/registry.h"

namespace gloo {
namespace benchmark {

namespace {

// One buffer of each rank goes to all ranks.
template <typename T>
class Allgather : public TypedBenchmark<T> {
 public:
  Allgather(std::shared_ptr<Context> context, const Options& options)
      : TypedBenchmark<T>(context, options), collective_(context) {}

  void initialize(size_t elements) override {
    auto* input = this->allocate(1, elements).front();
    output_.resize(this->size() * elements);
    collective_.setInput(input, elements);
    collective_.setOutput(output_.data(), output_.size());
  }

  void run() override { allgather(collective_); }

  void verify(Mismatches& mismatches) override {
    const auto pattern = this->patternOf(1);
    const size_t elements = output_.size() / this->size();
    for (size_t i = 0; i < output_.size(); i++) {
      const double expected = pattern.value(i / elements, i % elements);
      this->expect(i, output_[i], expected, 0, mismatches);
    }
  }

 private:
  AllgatherOptions collective_;
  std::vector<T> output_;
};

// Rank r contributes r times as many elements as rank 1; rank 0 none.
template <typename T>
class Allgatherv : public TypedBenchmark<T> {
 public:
  Allgatherv(std::shared_ptr<Context> context, const Options& options)
      : TypedBenchmark<T>(context, options), collective_(context) {}

  void initialize(size_t elements) override {
    // Never empty, so that the buffer has an address.
    auto* input =
        this->allocate(1, std::max<size_t>(1, this->rank() * elements)).front();
    size_t total = 0;
    for (size_t i = 0; i < this->size(); i++) {
      counts_.push_back(i * elements);
      total += counts_.back();
    }
    output_.resize(std::max<size_t>(1, total));
    collective_.template setInput<T>(input, counts_[this->rank()]);
    collective_.template setOutput<T>(output_.data(), counts_);
  }

  void run() override { allgatherv(collective_); }

  void verify(Mismatches& mismatches) override {
    const auto pattern = this->patternOf(1);
    size_t offset = 0;
    for (size_t i = 0; i < counts_.size(); i++) {
      for (size_t j = 0; j < counts_[i]; j++, offset++) {
        this->expect(
            offset, output_[offset], pattern.value(i, j), 0, mismatches);
      }
    }
  }

 private:
  AllgathervOptions collective_;
  std::vector<size_t> counts_;
  std::vector<T> output_;
};

// All buffers of each rank go to all ranks.
template <typename T>
class AllgatherInRing : public TypedBenchmark<T> {
 public:
  using TypedBenchmark<T>::TypedBenchmark;

  void initialize(size_t elements) override {
    const auto pointers = this->allocate(this->inputs(), elements);
    output_.resize(this->inputs() * this->size() * elements);
    algorithm_ = std::make_unique<AllgatherRing<T>>(
        this->context_,
        std::vector<const T*>(pointers.begin(), pointers.end()),
        output_.data(),
        static_cast<int>(elements));
  }

  void run() override { algorithm_->run(); }

  void verify(Mismatches& mismatches) override {
    const auto pattern = this->patternOf(this->inputs());
    const size_t elements = this->buffers_.front().size();
    for (size_t i = 0; i < output_.size(); i++) {
      const double expected = pattern.value(i / elements, i % elements);
      this->expect(i, output_[i], expected, 0, mismatches);
    }
  }

 private:
  std::vector<T> output_;
  std::unique_ptr<AllgatherRing<T>> algorithm_;
};

}  // namespace

void addAllgather(Registry& registry) {
  registry.push_back(
      {"allgather", "one buffer of each rank to all", ofFloats<Allgather>()});
  registry.push_back({"allgather_v",
                      "the same, rank r with r times the elements",
                      ofFloats<Allgatherv>()});
  registry.push_back({"allgather_ring",
                      "all buffers of each rank to all, in a ring",
                      ofFloats<AllgatherInRing>()});
}

}  // namespace benchmark
}  // namespace gloo
