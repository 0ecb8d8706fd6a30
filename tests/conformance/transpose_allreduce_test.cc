// SPDX-License-Identifier: Apache-2.0
//
// Properties that the matrix does not vary: segments, runs in a row, tags,
// errors.
#include "algorithms/transpose_allreduce.h"

#include <gloo/common/error.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "algorithms/bounded_transpose_allreduce.h"
#include "tests/conformance/sum_options.h"
#include "tests/conformance/transpose_job.h"

namespace gloo {
namespace testing {
namespace {

class TransposeSegments : public ::testing::TestWithParam<Transport> {};

// There are more segments than the window holds, and the last segments of
// shards differ.
TEST_P(TransposeSegments, longShardsAreCutUp) {
  for (const int ranks : {2, 3, 8}) {
    for (const size_t count : {1000003, 700001}) {
      const Job whole = {Form::kClass, Operation::kSum, 2, count};
      runJob<float>(whole, GetParam(), ranks);
      runJob<double>(whole, GetParam(), ranks);
    }
  }
}

TEST_P(TransposeSegments, optionsChooseTheSegment) {
  for (const auto form : {Form::kOptionsInPlace, Form::kOptionsSeparate}) {
    for (const size_t segmentBytesMax : {1, 4, 60, 4096}) {
      for (const size_t count : {5, 100, 997}) {
        Job job = {form, Operation::kSum, 2, count};
        job.segmentBytesMax = segmentBytesMax;
        runJob<float>(job, GetParam(), 3);
        runJob<float16>(job, GetParam(), 5);
      }
    }
  }
}

// No barrier separates two runs, so a fast rank may already be in the next one.
TEST_P(TransposeSegments, runsFollowEachOtherWithoutABarrier) {
  for (const auto form : {Form::kClass, Form::kOptionsInPlace}) {
    for (const size_t count : {2, 5, 4096, 300000}) {
      Job job = {form, Operation::kSum, 1, count};
      job.repeats = count > 100000 ? 5 : 100;
      runJob<float>(job, GetParam(), 4);
    }
  }
}

// In synchronous mode a send blocks until the kernel has taken all of it. All
// ranks send at once, so the data in flight must fit in the sockets' buffers.
TEST_P(TransposeSegments, synchronousPairsDoNotBlockEachOther) {
  constexpr int kRanks = 4;
  for (const size_t count : {1, 5000, 4000000}) {
    LocalRanks mesh(GetParam(), kRanks);
    const auto expected = reference<float>(Operation::kSum, kRanks, 1, count);
    const auto error = mesh.run([&](const auto& context) {
      makeSynchronous(*context);
      runClass<TransposeAllreduce, float>(
          {Form::kClass, Operation::kSum, 1, count}, context, expected);
    });
    EXPECT_EQ("", error);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         TransposeSegments,
                         ::testing::ValuesIn(transports()),
                         [](const auto& info) { return info.param.name; });

class TransposeOptions : public ::testing::TestWithParam<Transport> {};

TEST_P(TransposeOptions, differentTagsRunAtOnce) {
  const size_t count = 10000;
  const auto expected = reference<float>(Operation::kSum, 3, 1, count);
  const auto error = sharedRanks(GetParam(), 3).run([&](const auto& context) {
    std::vector<std::thread> threads;
    for (uint32_t tag = 0; tag < 4; tag++) {
      threads.emplace_back([&, tag] {
        sumManyTimes(context, tag, &transposeAllreduce, expected);
      });
    }
    for (auto& thread : threads) {
      thread.join();
    }
  });
  EXPECT_EQ("", error);
}

// For the exact and the bounded allreduce.
TEST_P(TransposeOptions, refusesTheSameAsGloo) {
  LocalRanks mesh(GetParam(), 2);
  const auto refused = [](const AllreduceOptions& options) {
    EXPECT_THROW(transposeAllreduce(options), EnforceNotMet);
    EXPECT_THROW(boundedTransposeAllreduce(options), EnforceNotMet);
  };
  const auto error = mesh.run([&](const auto& context) {
    // Large enough to be bounded.
    const size_t count = 100000;
    std::vector<float> values(count);
    AllreduceOptions nothing(context);
    EXPECT_NO_THROW(transposeAllreduce(nothing));  // it has no elements
    EXPECT_NO_THROW(boundedTransposeAllreduce(nothing));
    AllreduceOptions noFunction(context);
    noFunction.setOutput(values.data(), count);
    refused(noFunction);
    AllreduceOptions noOutput(context);
    noOutput.setInput(values.data(), count);
    noOutput.setReduceFunction(sumFunction<float>());
    refused(noOutput);
    AllreduceOptions unequal(context);
    unequal.setInput(values.data(), count - 1);
    unequal.setOutput(values.data(), count);
    unequal.setReduceFunction(sumFunction<float>());
    refused(unequal);
    EXPECT_THROW(TransposeAllreduce<float>(context, {values.data()}, -1),
                 EnforceNotMet);
    EXPECT_THROW(BoundedTransposeAllreduce<float>(context, {values.data()}, -1),
                 EnforceNotMet);
    EXPECT_THROW(TransposeAllreduce<float>(context, {}, 100000), EnforceNotMet);
    EXPECT_THROW(BoundedTransposeAllreduce<float>(context, {}, 100000),
                 EnforceNotMet);
  });
  EXPECT_EQ("", error);
}

TEST_P(TransposeOptions, aRankThatNeverComesIsAnError) {
  LocalRanks mesh(GetParam(), 3);
  const auto error = mesh.run([](const auto& context) {
    if (context->rank == 2) {
      return;
    }
    std::vector<float> values(100);
    AllreduceOptions options = sumOptions(context, &values);
    options.setTimeout(std::chrono::milliseconds(200));
    EXPECT_THROW(transposeAllreduce(options), IoException);
  });
  EXPECT_EQ("", error);
}

// Every rank's error names the element counts of two ranks.
TEST_P(TransposeOptions, ranksThatDisagreeOnTheElementsAreNamed) {
  for (const size_t other : {0, 1, 999, 2000, 200000}) {
    LocalRanks mesh(GetParam(), 3);
    const auto error = mesh.run([&](const auto& context) {
      std::vector<float> values(context->rank == 1 ? other : 1000);
      TransposeAllreduce<float>(context, {values.data()}, values.size()).run();
    });
    for (const std::string& part :
         {"rank 0: transpose allreduce: rank 1 brings " +
              std::to_string(other) +
              " elements of 4 bytes, this rank (0) 1000",
          std::string("rank 1: transpose allreduce: rank 0 brings 1000"),
          std::string("rank 2: transpose allreduce: rank 1 brings ")}) {
      EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
    }
  }
}

TEST_P(TransposeOptions, otherElementsAreNeverAdded) {
  for (const size_t other : {1, 999, 2000, 200000}) {
    LocalRanks mesh(GetParam(), 2);
    const auto error = mesh.run([&](const auto& context) {
      std::vector<float> values(context->rank == 1 ? other : 1000);
      AllreduceOptions options = sumOptions(context, &values);
      options.setTimeout(std::chrono::milliseconds(300));
      transposeAllreduce(options);
    });
    for (const std::string& part :
         {std::string("rank 0: "),
          std::string("of 1000 elements of 4 bytes"),
          "of " + std::to_string(other) + " elements of 4 bytes"}) {
      EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         TransposeOptions,
                         ::testing::ValuesIn(transports()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace testing
}  // namespace gloo
