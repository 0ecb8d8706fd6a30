// SPDX-License-Identifier: Apache-2.0
//
// Cases that the matrix does not vary: segments, consecutive runs, tags,
// deadlines.
#include "algorithms/hierarchical_transpose_allreduce.h"

#include <gloo/common/error.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/sum_options.h"
#include "tests/conformance/transpose_job.h"

namespace gloo {
namespace testing {
namespace {

constexpr Form kForms[] = {Form::kHierarchicalClass,
                           Form::kHierarchicalInPlace,
                           Form::kHierarchicalSeparate};

// Equal groups, one rank a group, and groups of three sizes.
std::vector<std::vector<GroupWish>> someGroups() {
  return {equalGroups(4, 2), equalGroups(3, 3), onHosts({0, 1, 0, 1, 1, 2})};
}

Job sumOf(Form form, size_t count, const std::vector<GroupWish>& wishes) {
  Job job = {form, Operation::kSum, 1, count};
  job.wishes = wishes;
  return job;
}

class HierarchicalTranspose : public ::testing::TestWithParam<Transport> {};

// More segments than the window holds. The last segment is full in all shards,
// short, or empty in all shards except the first.
TEST_P(HierarchicalTranspose, longShardsAreCutUp) {
  constexpr size_t kSegment = (256 << 10) / sizeof(float);
  for (const auto& wishes : someGroups()) {
    const size_t shards = agreedGroups(wishes).shards();
    for (const size_t count : {3 * shards * kSegment + 1,
                               4 * shards * kSegment,
                               3 * shards * kSegment - 5}) {
      for (const auto form : kForms) {
        runJob<float>(sumOf(form, count, wishes), GetParam(), wishes.size());
      }
    }
  }
}

TEST_P(HierarchicalTranspose, optionsChooseTheSegment) {
  for (const auto& wishes : someGroups()) {
    for (const size_t segmentBytesMax : {1, 60, 4096}) {
      for (const size_t count : {5, 997}) {
        Job job = sumOf(Form::kHierarchicalInPlace, count, wishes);
        job.inputs = 2;
        job.segmentBytesMax = segmentBytesMax;
        runJob<float>(job, GetParam(), wishes.size());
        job.form = Form::kHierarchicalSeparate;
        runJob<float16>(job, GetParam(), wishes.size());
      }
    }
  }
}

// No barrier separates two runs: a fast rank or group may already be in the
// next one. Every second segment is empty in all shards except the first: with
// 131,073 elements for equal groups, with 24,577 for others.
TEST_P(HierarchicalTranspose, runsFollowEachOtherWithoutABarrier) {
  for (const auto& wishes : someGroups()) {
    for (const size_t count : {1, 5, 24577, 131073}) {
      for (const auto form :
           {Form::kHierarchicalClass, Form::kHierarchicalInPlace}) {
        Job job = sumOf(form, count, wishes);
        job.repeats = count > 100000 ? 10 : 50;
        runJob<float>(job, GetParam(), wishes.size());
      }
    }
  }
}

template <typename T>
void sumRanks(const std::shared_ptr<Context>& context) {
  std::vector<T> values(1000, T(context->rank + 1));
  hierarchicalTransposeAllreduce(sumOptions(context, &values),
                                 agreedGroups(equalGroups(4, 2)));
  expectAll(std::vector<T>(values.size(), T(10)), {values}, context->rank);
}

// Gloo does not convert a float16 that should become, say, 3 if its bits are
// those of the integer 3. So remains of other types in memory must not enter
// sums.
TEST_P(HierarchicalTranspose, halvesAreNotMistakenForIntegers) {
  const auto error = sharedRanks(GetParam(), 4).run([](const auto& context) {
    for (int i = 0; i < 20; i++) {
      sumRanks<int64_t>(context);
      sumRanks<float16>(context);
    }
  });
  EXPECT_EQ("", error);
}

// In synchronous mode a send blocks until the kernel has accepted all of it,
// and all ranks send at once. So all data under way has to fit in the sockets'
// buffers.
TEST_P(HierarchicalTranspose, synchronousPairsDoNotBlockEachOther) {
  for (const auto& wishes : someGroups()) {
    const int ranks = static_cast<int>(wishes.size());
    for (const size_t count : {1, 5000, 4000000}) {
      const Job job = sumOf(Form::kHierarchicalClass, count, wishes);
      const auto expected = groupsReference<float>(
          Operation::kSum, agreedGroups(wishes), 1, count);
      LocalRanks mesh(GetParam(), ranks);
      const auto error = mesh.run([&](const auto& context) {
        makeSynchronous(*context);
        runClass<HierarchicalTransposeAllreduce, float>(job, context, expected);
      });
      EXPECT_EQ("", error);
    }
  }
}

// Also together with plain ones of the same tag.
TEST_P(HierarchicalTranspose, differentTagsRunAtOnce) {
  constexpr int kRanks = 4;
  const size_t count = 10000;
  const auto groups = agreedGroups(equalGroups(kRanks, 2));
  const auto sum = reference<float>(Operation::kSum, kRanks, 1, count);
  const auto grouped =
      groupsReference<float>(Operation::kSum, groups, 1, count);
  const auto error =
      sharedRanks(GetParam(), kRanks).run([&](const auto& context) {
        std::vector<std::thread> threads;
        for (uint32_t tag = 0; tag < 3; tag++) {
          threads.emplace_back([&, tag] {
            sumManyTimes(context, tag, &transposeAllreduce, sum);
          });
          threads.emplace_back([&, tag] {
            const auto allreduce = [](const AllreduceOptions& options) {
              hierarchicalTransposeAllreduce(options);
            };
            sumManyTimes(context, tag, allreduce, grouped);
          });
        }
        for (auto& thread : threads) {
          thread.join();
        }
      });
  EXPECT_EQ("", error);
}

TEST_P(HierarchicalTranspose, refusesTheSameAsTheTranspose) {
  LocalRanks mesh(GetParam(), 2);
  const auto error = mesh.run([&](const auto& context) {
    std::vector<float> values(100);
    AllreduceOptions nothing(context);
    EXPECT_NO_THROW(hierarchicalTransposeAllreduce(nothing));
    AllreduceOptions noFunction(context);
    noFunction.setOutput(values.data(), values.size());
    EXPECT_THROW(hierarchicalTransposeAllreduce(noFunction), EnforceNotMet);
    EXPECT_THROW(
        hierarchicalTransposeAllreduce(noFunction, RankGroups::single(2)),
        EnforceNotMet);
    EXPECT_THROW(
        HierarchicalTransposeAllreduce<float>(context, {values.data()}, -1),
        EnforceNotMet);
    EXPECT_THROW(HierarchicalTransposeAllreduce<float>(context, {}, 100),
                 EnforceNotMet);
    EXPECT_THROW(hierarchicalTransposeAllreduce(sumOptions(context, &values),
                                                RankGroups::single(3)),
                 EnforceNotMet);
  });
  EXPECT_EQ("", error);
}

// For a rank of the own group and for one of another.
TEST_P(HierarchicalTranspose, aRankThatNeverComesIsAnError) {
  for (const bool agreed : {false, true}) {
    LocalRanks mesh(GetParam(), 4);
    const auto groups = agreedGroups(equalGroups(4, 2));
    const auto error = mesh.run([&](const auto& context) {
      if (context->rank == 2) {
        return;
      }
      std::vector<float> values(100);
      AllreduceOptions options = sumOptions(context, &values);
      options.setTimeout(std::chrono::milliseconds(200));
      if (agreed) {
        EXPECT_THROW(hierarchicalTransposeAllreduce(options, groups),
                     IoException);
      } else {
        EXPECT_THROW(hierarchicalTransposeAllreduce(options), IoException);
      }
    });
    EXPECT_EQ("", error);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         HierarchicalTranspose,
                         ::testing::ValuesIn(transports()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace testing
}  // namespace gloo
