// SPDX-License-Identifier: Apache-2.0
#include "algorithms/bounded_transpose_allreduce.h"

#include <gloo/common/error.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <functional>
#include <thread>

#include "tests/algorithms/bounded_job.h"
#include "tests/conformance/local_ranks.h"
#include "transport_ubt/device.h"

namespace gloo {
namespace {

using testing::attributes;
using testing::bounded;
using testing::expected;
using testing::fill;
using testing::LocalRanks;

class BoundedTransposeAllreduceRanks : public ::testing::TestWithParam<int> {};

TEST_P(BoundedTransposeAllreduceRanks, SumsExactlyWhereNothingIsLost) {
  const int ranks = GetParam();
  LocalRanks mesh(bounded(), ranks);
  for (const size_t count : {1, 5, 1000, 65536, 1000003}) {
    const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
      std::vector<float> values(count);
      BoundedTransposeAllreduce<float> algorithm(
          context, {values.data()}, count);
      for (int i = 0; i < 5; i++) {
        fill(context->rank, &values);
        algorithm.run();
        ASSERT_TRUE(algorithm.report().has_value());
        EXPECT_TRUE(algorithm.report()->bounded);
        EXPECT_EQ(algorithm.report()->endedBy, ubt::EndedBy::kComplete);
        EXPECT_EQ(algorithm.report()->pairsMissing, 0u);
        for (size_t j = 0; j < count; j++) {
          ASSERT_EQ(values[j], expected<float>(ranks, j)) << j;
        }
      }
    });
    EXPECT_EQ(error, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks,
                         BoundedTransposeAllreduceRanks,
                         ::testing::Values(2, 3, 4, 8, 16));

TEST(BoundedTransposeAllreduce, OptionsFormTellsTheTypeAndReports) {
  LocalRanks mesh(bounded(), 3);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    const size_t count = 30000;
    std::vector<double> a(count), b(count), out(count);
    fill(context->rank * 2, &a);
    fill(context->rank * 2 + 1, &b);
    AllreduceOptions options(context);
    options.setInputs(std::vector<double*>{a.data(), b.data()}, count);
    options.setOutput(out.data(), count);
    options.setTag(7);
    void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<double>;
    options.setReduceFunction(sum);
    const BoundedReport report = boundedTransposeAllreduce(options);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->op.tag, 7u);
    for (size_t j = 0; j < count; j++) {
      ASSERT_EQ(out[j], expected<double>(6, j));
    }
  });
  EXPECT_EQ(error, "");
}

// An address range that must not be touched: larger than this machine's memory.
class Untouchable {
 public:
  explicit Untouchable(size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr,
                   bytes,
                   PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1,
                   0)) {
    EXPECT_NE(data_, MAP_FAILED);
  }
  ~Untouchable() { munmap(data_, bytes_); }
  Untouchable(const Untouchable&) = delete;
  Untouchable& operator=(const Untouchable&) = delete;

  template <typename T>
  T* data() const {
    return static_cast<T*>(data_);
  }

 private:
  const size_t bytes_;
  void* const data_;
};

TEST(BoundedTransposeAllreduce, OpsTooLargeForAHeaderRunExactly) {
  constexpr size_t kMost = UINT32_MAX;
  const auto smallSlots = [](ubt::Settings* settings, int) {
    settings->mtu = 576;
  };
  LocalRanks mesh(bounded(smallSlots), 2);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    const auto& path = *detail::boundedContext(*context);
    for (const bool hierarchical : {false, true}) {
      EXPECT_TRUE(path.takes(ubt::ElementType::kFloat16, kMost, hierarchical));
      EXPECT_FALSE(
          path.takes(ubt::ElementType::kFloat16, kMost + 1, hierarchical));
      // A shard has more slots than a header can number.
      EXPECT_FALSE(path.takes(ubt::ElementType::kFloat64, kMost, hierarchical));
      const Untouchable buffer((kMost + 1) * sizeof(float16));
      AllreduceOptions options(context);
      options.setOutput(buffer.data<float16>(), kMost + 1);
      void (*sum)(void*, const void*, const void*, size_t) =
          &gloo::sum<float16>;
      options.setReduceFunction(sum);
      EXPECT_FALSE(detail::boundedAllreduce(options, hierarchical).has_value());
    }
  });
  EXPECT_EQ(error, "");
}

// As in Gloo's own, which begins with the sum of the first two.
TEST(BoundedTransposeAllreduce, TheOutputMayBeOneOfTheFirstTwoInputs) {
  LocalRanks mesh(bounded(), 2);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    const size_t count = 5000;
    for (const size_t output : {0, 1}) {
      std::vector<std::vector<float>> inputs(3, std::vector<float>(count));
      std::vector<float*> pointers;
      for (int i = 0; i < 3; i++) {
        fill(context->rank * 3 + i, &inputs[i]);
        pointers.push_back(inputs[i].data());
      }
      AllreduceOptions options(context);
      options.setInputs(pointers, count);
      options.setOutput(pointers[output], count);
      void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
      options.setReduceFunction(sum);
      ASSERT_TRUE(boundedTransposeAllreduce(options).has_value());
      for (size_t j = 0; j < count; j++) {
        ASSERT_EQ(inputs[output][j], expected<float>(6, j)) << j;
      }
    }
  });
  EXPECT_EQ(error, "");
}

// A slot and a tag may be the same number. They are still two ops.
TEST(BoundedTransposeAllreduce, BothFormsAtOnceMeetOnlyTheirOwnKind) {
  LocalRanks mesh(bounded(), 2);
  const auto error = mesh.run([](const LocalRanks::ContextPtr& context) {
    constexpr size_t kCount = 1000;
    std::vector<float> ofClass(kCount);
    std::vector<float> ofOptions(kCount);
    BoundedTransposeAllreduce<float> algorithm(
        context, {ofClass.data()}, kCount);
    AllreduceOptions options(context);
    options.setOutput(ofOptions.data(), kCount);
    void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
    options.setReduceFunction(sum);
    const std::vector<std::function<void()>> forms = {
        [&] { algorithm.run(); },
        [&] {
          for (uint32_t tag = 0; tag < 4; tag++) {  // the slot is one of them
            fill(context->rank + 1, &ofOptions);
            options.setTag(tag);
            boundedTransposeAllreduce(options);
          }
        }};
    for (int i = 0; i < 20; i++) {
      fill(context->rank, &ofClass);
      // Ranks begin with different forms.
      std::thread first(forms[context->rank]);
      forms[1 - context->rank]();
      first.join();
      for (size_t j = 0; j < kCount; j++) {
        ASSERT_EQ(ofClass[j], expected<float>(2, j)) << j;
      }
    }
  });
  EXPECT_EQ(error, "");
}

TEST(BoundedTransposeAllreduce, IntegersAndMaximaStayExact) {
  LocalRanks mesh(bounded(), 3);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    std::vector<int> values(1000);
    fill(context->rank, &values);
    BoundedTransposeAllreduce<int> integers(context, {values.data()}, 1000);
    integers.run();
    EXPECT_FALSE(integers.report().has_value());
    EXPECT_EQ(values[1], expected<int>(3, 1));
    std::vector<float> floats(1000, context->rank);
    BoundedTransposeAllreduce<float> maximum(
        context, {floats.data()}, 1000, ReductionFunction<float>::max);
    maximum.run();
    EXPECT_FALSE(maximum.report().has_value());
    EXPECT_EQ(floats[0], 2);
  });
  EXPECT_EQ(error, "");
}

TEST(BoundedTransposeAllreduce, RepairsUnderInjectedLossWithoutDrift) {
  testing::expectRepairWithoutDrift<BoundedTransposeAllreduce<float>>();
}

// Gloo's pairs reject the receives that watch for dead ranks in this mode.
TEST(BoundedTransposeAllreduce, RunsBetweenPairsInSynchronousMode) {
  constexpr int kRanks = 3;
  LocalRanks mesh(bounded(), kRanks);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    std::vector<float> values(100000);
    BoundedTransposeAllreduce<float> algorithm(
        context, {values.data()}, values.size());
    TransposeAllreduce<float> exact(context, {values.data()}, values.size());
    for (int i = 0; i < 4; i++) {
      // Some before the watch begins, some after.
      const int peer = (context->rank + i) % kRanks;
      if (peer != context->rank) {
        exact.run();  // no rank is busy with an earlier op
        context->getPair(peer)->setSync(true, i == 1);
      }
      fill(context->rank, &values);
      algorithm.run();
      ASSERT_TRUE(algorithm.report().has_value());
      ASSERT_EQ(values[7], expected<float>(kRanks, 7));
      fill(context->rank, &values);
      exact.run();
      ASSERT_EQ(values[7], expected<float>(kRanks, 7));
    }
  });
  EXPECT_EQ(error, "");
}

TEST(BoundedTransposeAllreduce, LearnsItsBound) {
  LocalRanks mesh(
      {"ubt", [] { return transport::ubt::CreateDevice(attributes()); }}, 2);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    std::vector<float> values(100000);
    BoundedTransposeAllreduce<float> algorithm(
        context, {values.data()}, values.size());
    for (int i = 0; i < 30; i++) {
      fill(context->rank, &values);
      algorithm.run();
      EXPECT_EQ(algorithm.report()->bounded, i >= 20) << i;
      if (i < 20) {
        EXPECT_EQ(algorithm.report()->pairsMissing, 0u);
      } else {
        EXPECT_GT(algorithm.report()->boundScatter.count(), 0);
      }
    }
  });
  EXPECT_EQ(error, "");
}

TEST(BoundedTransposeAllreduce, RanksThatDisagreeAreNamed) {
  LocalRanks mesh(bounded(), 3);
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    std::vector<float> values(context->rank == 2 ? 2000 : 1000);
    BoundedTransposeAllreduce<float> algorithm(
        context, {values.data()}, values.size());
    try {
      algorithm.run();
      ADD_FAILURE() << "rank " << context->rank << " saw no disagreement";
    } catch (const IoException& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("1000 x float32"), std::string::npos) << text;
      EXPECT_NE(text.find("2000 x float32"), std::string::npos) << text;
      EXPECT_NE(text.find("rank 2"), std::string::npos) << text;
    }
  });
  EXPECT_EQ(error, "");
}

}  // namespace
}  // namespace gloo
