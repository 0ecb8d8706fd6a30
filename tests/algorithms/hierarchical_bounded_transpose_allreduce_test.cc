// SPDX-License-Identifier: Apache-2.0
#include "algorithms/hierarchical_bounded_transpose_allreduce.h"

#include <gloo/common/error.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>

#include "tests/algorithms/bounded_job.h"
#include "tests/conformance/local_ranks.h"
#include "transport_ubt/device.h"

namespace gloo {
namespace {

using testing::bounded;
using testing::expected;
using testing::fill;
using testing::LocalRanks;
using ubt::Grouping;

testing::Transport inGroups(uint32_t count) {
  return bounded([count](ubt::Settings* settings, int) {
    settings->groups = {Grouping::By::kCount, count};
  });
}

struct Ranks {
  int ranks;
  uint32_t groups;
};

class HierarchicalBounded : public ::testing::TestWithParam<Ranks> {};

TEST_P(HierarchicalBounded, SumsExactlyWhereNothingIsLost) {
  const auto [ranks, groups] = GetParam();
  LocalRanks mesh(inGroups(groups), ranks);
  for (const size_t count : {1, 5, 1000, 65536, 300003}) {
    const auto error = mesh.run([&, ranks = ranks, groups = groups](
                                    const LocalRanks::ContextPtr& context) {
      std::vector<float> values(count);
      HierarchicalBoundedTransposeAllreduce<float> algorithm(
          context, {values.data()}, count);
      for (int i = 0; i < 5; i++) {
        fill(context->rank, &values);
        algorithm.run();
        ASSERT_TRUE(algorithm.report().has_value());
        const ubt::OpReport& report = *algorithm.report();
        EXPECT_TRUE(report.bounded);
        EXPECT_EQ(report.endedBy, ubt::EndedBy::kComplete);
        EXPECT_EQ(report.pairsMissing, 0u);
        EXPECT_EQ(report.sums.size(), groups == 1 ? 0 : groups);
        for (size_t j = 0; j < count; j++) {
          ASSERT_EQ(values[j], expected<float>(ranks, j)) << j;
        }
      }
    });
    EXPECT_EQ(error, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes,
                         HierarchicalBounded,
                         ::testing::Values(Ranks{2, 2},
                                           Ranks{3, 1},
                                           Ranks{4, 2},
                                           Ranks{6, 3},
                                           Ranks{8, 2},
                                           Ranks{16, 4}));

// At once, on one context, with the same tag: they are ops of another shape.
TEST(HierarchicalBoundedAllreduce, SharesAContextWithPlainOnes) {
  constexpr int kRanks = 4;
  LocalRanks mesh(inGroups(2), kRanks);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    std::vector<float> values(10000);
    AllreduceOptions options(context);
    options.setOutput(values.data(), values.size());
    options.setTag(3);
    void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
    options.setReduceFunction(sum);
    for (int i = 0; i < 6; i++) {
      fill(context->rank, &values);
      const BoundedReport report =
          i % 2 == 0 ? hierarchicalBoundedTransposeAllreduce(options)
                     : boundedTransposeAllreduce(options);
      ASSERT_TRUE(report.has_value());
      EXPECT_EQ(report->sums.empty(), i % 2 == 1);
      for (size_t j = 0; j < values.size(); j++) {
        ASSERT_EQ(values[j], expected<float>(kRanks, j)) << j;
      }
    }
  });
  EXPECT_EQ(error, "");
}

TEST(HierarchicalBoundedAllreduce, IneligibleOpsAreExactInTheSameGroups) {
  LocalRanks mesh(inGroups(2), 4);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    std::vector<int> values(1000);
    fill(context->rank, &values);
    HierarchicalBoundedTransposeAllreduce<int> integers(
        context, {values.data()}, 1000);
    integers.run();
    EXPECT_FALSE(integers.report().has_value());
    EXPECT_EQ(values[1], expected<int>(4, 1));
  });
  EXPECT_EQ(error, "");
}

TEST(HierarchicalBoundedAllreduce, RepairsUnderInjectedLossWithoutDrift) {
  testing::expectRepairWithoutDrift<
      HierarchicalBoundedTransposeAllreduce<float>>();
}

TEST(HierarchicalBoundedAllreduce, LearnsItsBounds) {
  LocalRanks mesh(bounded([](ubt::Settings* settings, int) {
                    settings->protocol = ubt::Options();
                    settings->protocol.repair = ubt::RepairPolicy::kNone;
                  }),
                  4);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    std::vector<float> values(100000);
    HierarchicalBoundedTransposeAllreduce<float> algorithm(
        context, {values.data()}, values.size());
    for (int i = 0; i < 30; i++) {
      fill(context->rank, &values);
      algorithm.run();
      EXPECT_EQ(algorithm.report()->bounded, i >= 20) << i;
      if (i >= 20) {
        EXPECT_GT(algorithm.report()->boundScatter.count(), 0);
        EXPECT_GT(algorithm.report()->boundExchange.count(), 0);
      }
    }
  });
  EXPECT_EQ(error, "");
}

// The error of every rank's first hierarchical op. Plain ops still work.
template <typename Exception>
void expectRefusal(const testing::Transport& transport,
                   const std::string& what) {
  LocalRanks mesh(transport, 4);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    std::vector<float> values(1000);
    HierarchicalBoundedTransposeAllreduce<float> hierarchical(
        context, {values.data()}, values.size());
    for (int i = 0; i < 2; i++) {
      try {
        hierarchical.run();
        ADD_FAILURE() << "rank " << context->rank << " had nothing to say";
      } catch (const Exception& error) {
        EXPECT_NE(std::string(error.what()).find(what), std::string::npos)
            << error.what();
      }
    }
    BoundedTransposeAllreduce<float> plain(
        context, {values.data()}, values.size());
    fill(context->rank, &values);
    plain.run();
    EXPECT_EQ(values[3], expected<float>(4, 3));
  });
  EXPECT_EQ(error, "");
}

TEST(HierarchicalBoundedAllreduce, RanksThatWantOtherGroupsAreNamed) {
  expectRefusal<IoException>(
      bounded([](ubt::Settings* settings, int device) {
        settings->groups = {Grouping::By::kCount, device < 2 ? 2U : 4U};
      }),
      "GLOO_UBT_GROUPS=2");
}

TEST(HierarchicalBoundedAllreduce, GroupsThatCannotBeAreRefused) {
  expectRefusal<InvalidOperationException>(
      inGroups(3), "4 ranks do not divide into that number of equal groups");
}

TEST(HierarchicalBoundedAllreduce, RanksThatDisagreeOnItAreNamed) {
  LocalRanks mesh(inGroups(2), 4);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    std::vector<float> values(1000);
    AllreduceOptions options(context);
    options.setOutput(values.data(), values.size());
    void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
    options.setReduceFunction(sum);
    try {
      (context->rank == 2 ? boundedTransposeAllreduce
                          : hierarchicalBoundedTransposeAllreduce)(options);
      ADD_FAILURE() << "rank " << context->rank << " saw no disagreement";
    } catch (const IoException& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("rank 2"), std::string::npos) << text;
      EXPECT_NE(text.find("hierarchical"), std::string::npos) << text;
    }
  });
  EXPECT_EQ(error, "");
}

}  // namespace
}  // namespace gloo
