// SPDX-License-Identifier: Apache-2.0
//
// Compares the Hadamard transform, in place, with memcpy from one buffer of the
// same size to another. It reports median times as ratios to memcpy's:
// forward_ratio (with its check) and inverse_ratio. Times are CPU times of the
// thread. All three take turns, because the other load of a machine changes
// from moment to moment. The design's limit is 1.5 at 25 MB.
//
//   bazel run //transport_ubt/kernels:hadamard_benchmark
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "transport_ubt/kernels/hadamard.h"

namespace {

double threadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

template <typename Call>
double secondsOf(const Call& call) {
  const double begin = threadSeconds();
  call();
  return threadSeconds() - begin;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Ordinary numbers: each with an exponent near 0.
std::vector<char> elements(ubt::ElementType type, size_t count) {
  std::vector<char> bytes(count * ubt::elementSize(type));
  std::mt19937_64 random(1);
  for (size_t i = 0; i < count; i++) {
    const uint64_t bits = random();
    char* const to = bytes.data() + i * ubt::elementSize(type);
    if (type == ubt::ElementType::kFloat64) {
      const double value = bits * 0x1p-64 - 0.5;
      std::memcpy(to, &value, sizeof(value));
    } else if (type == ubt::ElementType::kFloat16) {
      const uint16_t value = (bits & 0x83ff) | 0x3800;
      std::memcpy(to, &value, sizeof(value));
    } else {
      const float value = bits * 0x1p-64F - 0.5F;
      char raw[sizeof(value)];
      std::memcpy(raw, &value, sizeof(value));
      const size_t size = ubt::elementSize(type);
      std::memcpy(to, raw + sizeof(value) - size, size);
    }
  }
  return bytes;
}

void roundTrip(benchmark::State& state) {
  const auto type = static_cast<ubt::ElementType>(state.range(0));
  const size_t bytes = state.range(1);
  const size_t count = bytes / ubt::elementSize(type);
  auto data = elements(type, count);
  std::vector<char> copy(data);
  std::vector<double> copies;
  std::vector<double> forwards;
  std::vector<double> inverses;
  uint64_t seed = 0;
  for (auto _ : state) {
    copies.push_back(secondsOf([&] {
      std::memcpy(copy.data(), data.data(), bytes);
      benchmark::DoNotOptimize(copy.data());
      benchmark::ClobberMemory();
    }));
    forwards.push_back(secondsOf([&] {
      if (!ubt::hadamardTransform(type, data.data(), count, seed, 8)) {
        state.SkipWithError("refused");
      }
    }));
    inverses.push_back(secondsOf(
        [&] { ubt::hadamardInverse(type, data.data(), count, seed); }));
    seed++;
  }
  const double copyTime = median(copies);
  state.counters["memcpy_us"] = copyTime * 1e6;
  state.counters["forward_ratio"] = median(forwards) / copyTime;
  state.counters["inverse_ratio"] = median(inverses) / copyTime;
  state.SetLabel(ubt::elementTypeName(type));
}

// 25 MB, 25 MiB (rows would be a multiple of a page apart), and shards that
// stay in a cache.
BENCHMARK(roundTrip)
    ->ArgNames({"type", "bytes"})
    ->ArgsProduct({{0, 1, 2, 3}, {25000000, 25 << 20, 4 << 20, 256 << 10}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
