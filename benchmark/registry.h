// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"

namespace gloo {
namespace benchmark {

// Makes a benchmark on a context.
using Factory = std::function<std::unique_ptr<Benchmark>(
    std::shared_ptr<Context>, const Options&)>;

// Throws UsageError for options that the benchmark does not support.
using Check = std::function<void(const Options&)>;

struct Entry {
  std::string name;
  std::string help;
  Factory factory;
  Check check = nullptr;
};

using Registry = std::vector<Entry>;

// A benchmark of float, or of float16 if the options say so.
template <template <typename> class B, typename... Args>
Factory ofFloats(Args... args) {
  return [=](std::shared_ptr<Context> context,
             const Options& options) -> std::unique_ptr<Benchmark> {
    if (options.halfPrecision) {
      return std::make_unique<B<float16>>(std::move(context), options, args...);
    }
    return std::make_unique<B<float>>(std::move(context), options, args...);
  };
}

// One function for each file of benchmarks.
void addAllgather(Registry& registry);
void addAllreduce(Registry& registry);
void addAlltoall(Registry& registry);
void addBarrier(Registry& registry);
void addBroadcast(Registry& registry);
void addPairwiseExchange(Registry& registry);
void addReduce(Registry& registry);
void addScatter(Registry& registry);
void addSendRecv(Registry& registry);

// All benchmarks.
const Registry& benchmarks();

// Throws UsageError if there is no such benchmark. The text has the closest
// name.
const Entry& findBenchmark(const std::string& name);

// The text for the help, one line for each benchmark.
std::string listBenchmarks();

}  // namespace benchmark
}  // namespace gloo
