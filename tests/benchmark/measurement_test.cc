// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "benchmark/pattern.h"
#include "benchmark/registry.h"
#include "benchmark/samples.h"
#include "benchmark/table.h"

namespace gloo {
namespace benchmark {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;

TEST(Distribution, Percentiles) {
  Samples samples;
  for (int i = 100; i >= 1; i--) {
    samples.push_back(nanoseconds(i));
  }
  const Distribution<nanoseconds> distribution(samples);
  EXPECT_EQ(distribution.min(), nanoseconds(1));
  EXPECT_EQ(distribution.max(), nanoseconds(100));
  EXPECT_EQ(distribution.percentile(0.5), nanoseconds(50));
  EXPECT_EQ(distribution.percentile(0.99), nanoseconds(99));
  EXPECT_EQ(distribution.percentile(1), nanoseconds(100));
  EXPECT_EQ(distribution.sum(), nanoseconds(5050));
  EXPECT_THROW(Distribution<nanoseconds>({}), EnforceNotMet);
}

TEST(Distribution, APercentileIsASampleThatEnoughDoNotExceed) {
  std::vector<double> tenths;
  for (double i = 1; i <= 10; i++) {
    tenths.push_back(i);
  }
  const Distribution<double> ten(tenths);
  EXPECT_EQ(ten.percentile(.5), 5);
  EXPECT_EQ(ten.percentile(.9), 9);
  EXPECT_EQ(ten.percentile(.99), 10);
  EXPECT_EQ(ten.percentile(.001), 1);
}

// Adds up buffers in the type itself, and compares.
template <typename T>
void checkPattern(size_t buffers, size_t elements) {
  const Pattern pattern(buffers, exactMax<T>());
  ASSERT_EQ(pattern.tolerance(), 0) << buffers;
  for (size_t i = 0; i < elements; i += 1 + i / 7) {
    T sum = 0;
    for (size_t b = 0; b < buffers; b++) {
      const T value = static_cast<T>(pattern.value(b, i));
      ASSERT_EQ(static_cast<double>(value), pattern.value(b, i));
      sum += value;
    }
    ASSERT_EQ(static_cast<double>(sum), pattern.sum(i)) << i;
  }
}

TEST(Pattern, SumsAreExact) {
  for (const size_t buffers : {1, 2, 3, 8, 64, 512}) {
    checkPattern<float>(buffers, 10000000);
  }
}

TEST(Pattern, HalfPrecisionDoesNotOverflow) {
  for (const size_t buffers : {1, 2, 8, 32, 64}) {
    const Pattern pattern(buffers, exactMax<float16>());
    EXPECT_EQ(pattern.tolerance(), 0);
    for (size_t i = 0; i < 5000; i++) {
      ASSERT_LE(pattern.sum(i), 2048);
    }
  }
  EXPECT_GT(Pattern(128, exactMax<float16>()).tolerance(), 0);
}

TEST(Pattern, ValuesTellTheirBufferAndIndex) {
  const Pattern pattern(8, exactMax<float>());
  std::set<double> values;
  for (size_t b = 0; b < 8; b++) {
    for (size_t i = 0; i < 1000; i++) {
      EXPECT_TRUE(values.insert(pattern.value(b, i)).second);
    }
  }
}

TEST(Mismatches, KeepsTheFirstAndCountsAll) {
  Mismatches few(3, false);
  Mismatches all(3, true);
  for (size_t i = 0; i < 100; i++) {
    few.add(i, 1, 2);
    all.add(i, 1, 2);
  }
  EXPECT_EQ(few.count(), 100u);
  EXPECT_EQ(few.texts().size(), Mismatches::kShown);
  EXPECT_EQ(all.texts().size(), 100u);
  EXPECT_EQ(few.texts()[7], "Rank: 3 Mismatch at index: 7: got 1, expected 2");
}

TEST(Registry, NamesTheNearest) {
  EXPECT_EQ(findBenchmark("reduce").name, "reduce");
  try {
    findBenchmark("allreduce_rng");
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), HasSubstr("did you mean allreduce_ring?"));
  }
}

TEST(Registry, HasEveryBenchmarkOfGloo) {
  for (const auto* name : {"allgather",
                           "allgather_v",
                           "allgather_ring",
                           "allreduce_ring",
                           "allreduce_ring_chunked",
                           "allreduce_halving_doubling",
                           "allreduce_bcube",
                           "allreduce_local",
                           "alltoall",
                           "alltoall_v",
                           "barrier_all_to_all",
                           "barrier_all_to_one",
                           "broadcast",
                           "broadcast_one_to_all",
                           "pairwise_exchange",
                           "reduce",
                           "reduce_scatter",
                           "scatter",
                           "sendrecv_roundtrip",
                           "sendrecv_stress",
                           "isendirecv_stress",
                           "new_allreduce_ring",
                           "allreduce_transpose",
                           "allreduce_hierarchical_transpose",
                           "allreduce_optireduce",
                           "allreduce_hierarchical_optireduce"}) {
    EXPECT_EQ(findBenchmark(name).name, name);
    EXPECT_THAT(listBenchmarks(), HasSubstr(name));
  }
}

TEST(Table, ColumnsOfGloo) {
  Options options;
  options.benchmark = "allreduce_bcube";
  options.size = 4;
  std::stringstream out;
  Table table(out, options);
  table.printHeader({"the device"});
  table.printRow(1 << 20, 4, Distribution<nanoseconds>({microseconds(1000)}));
  EXPECT_THAT(out.str(), HasSubstr("ALLREDUCE_BCUBE"));
  EXPECT_THAT(
      out.str(),
      HasSubstr("Options:     processes=4, inputs=1, threads=1, base=2, "
                "verify=true\n"));
  EXPECT_THAT(
      out.str(),
      HasSubstr(
          "   size (B)   elements   min (us)   p50 (us)   p99 (us)   max (us)"
          "   bandwidth (GB/s)   iterations\n"
          "    4194304    1048576       1000       1000       1000       1000"
          "              3.906            1\n"));
}

}  // namespace
}  // namespace benchmark
}  // namespace gloo
