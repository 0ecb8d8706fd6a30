// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/common/aligned_allocator.h>
#include <gloo/common/common.h>
#include <gloo/context.h>
#include <gloo/types.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "benchmark/mismatches.h"
#include "benchmark/options.h"
#include "benchmark/pattern.h"

namespace gloo {
namespace benchmark {

// One collective on one context, for repeated runs. One thread at a time
// creates, initializes and runs it. Shares ownership of its context.
class Benchmark {
 public:
  virtual ~Benchmark() = default;

  // Allocates buffers of that many elements and fills them. Called once.
  virtual void initialize(size_t elements) = 0;

  // One iteration. All ranks run the same number of iterations.
  virtual void run() = 0;

  // Checks the buffers' contents after the first run() after initialize().
  virtual void verify(Mismatches& /* mismatches */) {}

  // The number of warm-up iterations, if the user asked for `asked`.
  virtual int warmupIterations(int asked) const { return asked; }

  // Information about past iterations that the figures do not show but a reader
  // should know; usually empty.
  virtual std::string remark() const { return ""; }

  // Bytes of an element, for the table.
  virtual size_t elementSize() const = 0;
};

// The common part of benchmarks of buffers of T.
template <typename T>
class TypedBenchmark : public Benchmark {
 public:
  TypedBenchmark(std::shared_ptr<Context> context, const Options& options)
      : context_(std::move(context)), options_(options) {}

  size_t elementSize() const override { return sizeof(T); }

 protected:
  using Buffer = std::vector<T, aligned_allocator<T, kBufferAlignment>>;

  static double toDouble(T value) { return static_cast<double>(value); }

  size_t rank() const { return static_cast<size_t>(context_->rank); }
  size_t size() const { return static_cast<size_t>(context_->size); }
  size_t inputs() const { return static_cast<size_t>(options_.inputs); }

  // The values of `buffersPerRank` buffers on each rank.
  Pattern patternOf(size_t buffersPerRank) const {
    return Pattern(size() * buffersPerRank, exactMax<T>());
  }

  // Allocates `count` buffers in buffers_ and fills them. Buffer i of rank r
  // has number r * count + i of the pattern.
  std::vector<T*> allocate(size_t count, size_t elements) {
    const auto pattern = patternOf(count);
    std::vector<T*> pointers;
    for (size_t i = 0; i < count; i++) {
      buffers_.emplace_back(elements);
      for (size_t j = 0; j < elements; j++) {
        buffers_.back()[j] =
            static_cast<T>(pattern.value(rank() * count + i, j));
      }
    }
    for (auto& buffer : buffers_) {
      pointers.push_back(buffer.data());
    }
    return pointers;
  }

  static void expect(size_t index,
                     T got,
                     double expected,
                     double tolerance,
                     Mismatches& mismatches) {
    const double value = toDouble(got);
    // Negated, so that NaN is a mismatch.
    if (!(std::abs(value - expected) <= tolerance * std::abs(expected))) {
      mismatches.add(index, value, expected);
    }
  }

  const std::shared_ptr<Context> context_;
  const Options options_;
  std::vector<Buffer> buffers_;
};

template <>
inline double TypedBenchmark<float16>::toDouble(float16 value) {
  return cpu_half2float(value);
}

}  // namespace benchmark
}  // namespace gloo
