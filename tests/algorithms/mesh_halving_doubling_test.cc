// SPDX-License-Identifier: Apache-2.0
#include "algorithms/mesh_halving_doubling.h"

#include <gloo/common/error.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/transpose_allreduce.h"
#include "tests/conformance/halving_doubling.h"
#include "tests/conformance/local_ranks.h"
#include "tests/conformance/sum_options.h"
#include "tests/conformance/transpose_job.h"

namespace gloo {
namespace testing {
namespace {

constexpr Form kForms[] = {Form::kHalvingDoublingInPlace,
                           Form::kHalvingDoublingSeparate};

class HalvingDoublingRanks : public ::testing::TestWithParam<int> {};

TEST_P(HalvingDoublingRanks, anyFewElementsWill) {
  for (size_t count = 0; count <= 20; count++) {
    for (const auto form : kForms) {
      runJob<float>(
          {form, Operation::kSum, 1, count}, tcpTransport(), GetParam());
    }
  }
}

// The digits that one rank has appended to a number.
struct Digits {
  uint32_t value;
  uint32_t scale;
};

void append(void* c, const void* a, const void* b, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const Digits left = static_cast<const Digits*>(a)[i];
    const Digits right = static_cast<const Digits*>(b)[i];
    static_cast<Digits*>(c)[i] = {left.value * right.scale + right.value,
                                  left.scale * right.scale};
  }
}

TEST_P(HalvingDoublingRanks, operandsKeepTheRanksOrder) {
  const int ranks = GetParam();
  const uint32_t expected = std::stoul(std::string("123456789", ranks));
  const auto error =
      sharedRanks(tcpTransport(), ranks).run([&](const auto& context) {
        const uint32_t digit = context->rank + 1;
        std::vector<Digits> values(13, Digits{digit, 10});
        AllreduceOptions options(context);
        options.setOutput(values.data(), values.size());
        options.setReduceFunction(append);
        halvingDoublingAllreduce(options);
        for (const auto& number : values) {
          EXPECT_EQ(number.value, expected) << "rank " << context->rank;
        }
      });
  EXPECT_EQ(error, "");
}

INSTANTIATE_TEST_SUITE_P(To9, HalvingDoublingRanks, ::testing::Range(1, 10));

// More segments than are announced beforehand.
TEST(HalvingDoubling, longBlocksAreCutUp) {
  for (const int ranks : {2, 3, 4, 7}) {
    for (const auto form : kForms) {
      const Job job = {form, Operation::kSum, 2, 1000003};
      runJob<float>(job, tcpTransport(), ranks);
    }
  }
}

TEST(HalvingDoubling, optionsChooseTheSegment) {
  for (const auto form : kForms) {
    for (const size_t segmentBytesMax : {1, 4, 60, 4096}) {
      for (const size_t count : {5, 100, 997}) {
        Job job = {form, Operation::kSum, 2, count};
        job.segmentBytesMax = segmentBytesMax;
        runJob<float>(job, tcpTransport(), 4);
        runJob<float16>(job, tcpTransport(), 5);
      }
    }
  }
}

// No barrier separates two runs: a fast rank may already be in the next one.
TEST(HalvingDoubling, runsFollowEachOtherWithoutABarrier) {
  for (const int ranks : {4, 5}) {
    for (const size_t count : {2, 5, 4096, 300000}) {
      Job job = {Form::kHalvingDoublingInPlace, Operation::kSum, 1, count};
      job.repeats = count > 100000 ? 5 : 100;
      runJob<float>(job, tcpTransport(), ranks);
    }
  }
}

// One of them also belongs to a transpose.
TEST(HalvingDoubling, differentTagsRunAtOnce) {
  constexpr int kRanks = 5;
  const size_t count = 10000;
  const auto sum = reference<float>(Operation::kSum, kRanks, 1, count);
  const auto treeSum = treeReference<float>(Operation::kSum, kRanks, 1, count);
  const auto error =
      sharedRanks(tcpTransport(), kRanks).run([&](const auto& context) {
        std::vector<std::thread> threads;
        threads.emplace_back(
            [&] { sumManyTimes(context, 0, &transposeAllreduce, sum); });
        for (uint32_t tag = 0; tag < 4; tag++) {
          threads.emplace_back([&, tag] {
            sumManyTimes(context, tag, &halvingDoublingAllreduce, treeSum);
          });
        }
        for (auto& thread : threads) {
          thread.join();
        }
      });
  EXPECT_EQ(error, "");
}

void sumFloats(const std::shared_ptr<Context>& context,
               size_t count,
               std::chrono::milliseconds timeout) {
  std::vector<float> values(count, 1);
  AllreduceOptions options = sumOptions(context, &values);
  options.setTimeout(timeout);
  halvingDoublingAllreduce(options);
  EXPECT_EQ(values, std::vector<float>(count, context->size));
}

TEST(HalvingDoubling, aTimeoutOfZeroIsNone) {
  const auto error =
      sharedRanks(tcpTransport(), 3).run([](const auto& context) {
        sumFloats(context, 100000, std::chrono::milliseconds(0));
      });
  EXPECT_EQ(error, "");
}

TEST(HalvingDoubling, aRankThatNeverComesIsAnError) {
  for (const int absent : {0, 1, 2}) {
    LocalRanks mesh(tcpTransport(), 3);
    const auto error = mesh.run([&](const auto& context) {
      if (context->rank != absent) {
        EXPECT_THROW(sumFloats(context, 100, std::chrono::milliseconds(200)),
                     IoException);
      }
    });
    EXPECT_EQ(error, "");
  }
}

// A longer message does not end the process either.
TEST(HalvingDoubling, otherElementsAreNeverAdded) {
  for (const int ranks : {2, 3}) {
    for (const size_t other : {1, 999, 2000, 200000}) {
      LocalRanks mesh(tcpTransport(), ranks);
      const auto error = mesh.run([&](const auto& context) {
        sumFloats(context,
                  context->rank == 1 ? other : 1000,
                  std::chrono::milliseconds(300));
      });
      for (const std::string& part :
           {std::string("rank 0: "),
            std::string("rank 1: "),
            std::string("of 1000 elements of 4 bytes; do all ranks pass"),
            "of " + std::to_string(other) + " elements of 4 bytes"}) {
        EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
      }
    }
  }
}

}  // namespace
}  // namespace testing
}  // namespace gloo
