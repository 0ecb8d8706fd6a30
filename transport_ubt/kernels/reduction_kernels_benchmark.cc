// SPDX-License-Identifier: Apache-2.0
//
// Measures the receive-and-reduce loop with real sizes. Payloads of one
// datagram are read from a staging buffer that stays in the cache. They are
// added into an accumulator that may be far larger than the cache.
//
//   bazel run //transport_ubt/kernels:reduction_kernels_benchmark
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "transport_ubt/kernels/reduction_kernels.h"

namespace {

constexpr size_t kStagingBytes = 64 << 10;

void addFromStaging(benchmark::State& state) {
  const auto type = static_cast<ubt::ElementType>(state.range(0));
  const size_t payloadBytes = state.range(1);
  const size_t accumulatorBytes = state.range(2);
  const size_t count = payloadBytes / ubt::elementSize(type);
  std::vector<char> staging(kStagingBytes + payloadBytes);
  std::vector<char> accumulator(accumulatorBytes + payloadBytes);
  const auto& kernels = ubt::reductionKernels();
  size_t from = 0;
  size_t to = 0;
  for (auto _ : state) {
    kernels.add(type, accumulator.data() + to, staging.data() + from, count);
    to = to + payloadBytes < accumulatorBytes ? to + payloadBytes : 0;
    from = from + payloadBytes < kStagingBytes ? from + payloadBytes : 0;
  }
  state.SetBytesProcessed(state.iterations() * payloadBytes);
  state.SetLabel(ubt::elementTypeName(type));
}

BENCHMARK(addFromStaging)
    ->ArgNames({"type", "payload", "accumulator"})
    ->ArgsProduct({{0, 1, 2, 3}, {1352, 8192}, {256 << 10, 26 << 20}});

void copyAsMemoryCan(benchmark::State& state) {
  const size_t payloadBytes = state.range(0);
  const size_t targetBytes = state.range(1);
  std::vector<char> staging(kStagingBytes + payloadBytes);
  std::vector<char> target(targetBytes + payloadBytes);
  size_t from = 0;
  size_t to = 0;
  for (auto _ : state) {
    std::copy_n(staging.data() + from, payloadBytes, target.data() + to);
    benchmark::ClobberMemory();
    to = to + payloadBytes < targetBytes ? to + payloadBytes : 0;
    from = from + payloadBytes < kStagingBytes ? from + payloadBytes : 0;
  }
  state.SetBytesProcessed(state.iterations() * payloadBytes);
}

BENCHMARK(copyAsMemoryCan)
    ->ArgNames({"payload", "target"})
    ->ArgsProduct({{1352}, {256 << 10, 26 << 20}});

}  // namespace
