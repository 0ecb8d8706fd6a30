// SPDX-License-Identifier: Apache-2.0
//
// Compares the bounded path over UDP with a plain sum: type x ranks x form x
// inputs x size, in one group and in several. Bounds are set by hand and long,
// so that every op is bounded and none expires. All sums are exact in every
// type and order, so results must be equal in every bit.
#include <gloo/math.h>
#include <gloo/types.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/hierarchical_bounded_transpose_allreduce.h"
#include "tests/conformance/buffers.h"
#include "tests/conformance/local_ranks.h"
#include "transport_ubt/device.h"

namespace gloo {
namespace testing {
namespace {

// Gloo has no bfloat16 type. PyTorch brings its own, with a function to add it.
struct Bfloat16 {
  uint16_t bits = 0;

  Bfloat16() = default;
  explicit Bfloat16(int value) : Bfloat16(static_cast<float>(value)) {}
  explicit Bfloat16(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, sizeof(wide));
    bits = wide >> 16;  // exact for the values used here
  }
  float value() const {
    const uint32_t wide = uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
  }
};

void addBfloat16(void* c, const void* a, const void* b, size_t n) {
  for (size_t i = 0; i < n; i++) {
    static_cast<Bfloat16*>(c)[i] =
        Bfloat16(static_cast<const Bfloat16*>(a)[i].value() +
                 static_cast<const Bfloat16*>(b)[i].value());
  }
}

template <typename T>
AllreduceOptions::Func sumOf() {
  if constexpr (std::is_same<T, Bfloat16>::value) {
    return &addBfloat16;
  } else {
    void (*add)(void*, const void*, const void*, size_t) = &sum<T>;
    return add;
  }
}

constexpr auto kBound = std::chrono::seconds(60);

std::shared_ptr<transport::Device> createDevice() {
  transport::ubt::attr attr("127.0.0.1");
  attr.settings.minBytes = 0;
  attr.settings.mtu = 1500;  // several slots per shard
  auto& protocol = attr.settings.protocol;
  protocol.warmupOps = 0;
  protocol.boundScatter = protocol.boundBroadcast = kBound;
  protocol.repair = ubt::RepairPolicy::kBoth;  // sockets may overflow
  return transport::ubt::CreateDevice(attr);
}

// Values are 0 or 1, because bfloat16 holds whole numbers up to 256, and 65
// ranks have 195 inputs.
int valueAt(int rank, int input, size_t index) {
  uint64_t bits = (index * 128 + rank) * 4 + input + 1;
  bits *= 0x9e3779b97f4a7c15;
  bits ^= bits >> 29;
  bits *= 0xbf58476d1ce4e5b9;
  return bits >> 63;
}

enum class Form { kClass, kInPlace, kSeparate };
enum class Type { kFloat, kDouble, kFloat16, kBfloat16 };

struct Job {
  Form form;
  int ranks;
  bool hierarchical;
  int inputs;
  size_t count;
};

template <typename T>
BoundedReport runOptions(const Job& job,
                         const std::shared_ptr<Context>& context,
                         Buffers<T>& inputs,
                         Buffers<T>& outputs) {
  AllreduceOptions options(context);
  if (job.form == Form::kSeparate) {
    options.setInputs(pointersTo(inputs), job.count);
    outputs.assign(2, std::vector<T>(job.count));
    options.setOutputs(pointersTo(outputs), job.count);
  } else {
    options.setOutputs(pointersTo(inputs), job.count);
  }
  options.setTag(3);
  options.setReduceFunction(sumOf<T>());
  return job.hierarchical ? hierarchicalBoundedTransposeAllreduce(options)
                          : boundedTransposeAllreduce(options);
}

template <typename Algorithm, typename T>
BoundedReport runOnce(const Job& job,
                      const std::shared_ptr<Context>& context,
                      Buffers<T>& buffers) {
  Algorithm algorithm(context, pointersTo(buffers), job.count);
  algorithm.run();
  return algorithm.report();
}

template <typename T>
BoundedReport runClass(const Job& job,
                       const std::shared_ptr<Context>& context,
                       Buffers<T>& buffers) {
  if constexpr (std::is_same<T, Bfloat16>::value) {
    return std::nullopt;  // Gloo's ReductionFunction does not support bfloat16
  } else {
    return job.hierarchical
               ? runOnce<HierarchicalBoundedTransposeAllreduce<T>, T>(
                     job, context, buffers)
               : runOnce<BoundedTransposeAllreduce<T>, T>(
                     job, context, buffers);
  }
}

template <typename T>
void runRank(const Job& job,
             const std::shared_ptr<Context>& context,
             const std::vector<T>& expected) {
  Buffers<T> inputs(job.inputs);
  for (int input = 0; input < job.inputs; input++) {
    for (size_t i = 0; i < job.count; i++) {
      inputs[input].emplace_back(valueAt(context->rank, input, i));
    }
  }
  Buffers<T> outputs;
  const BoundedReport report =
      job.form == Form::kClass ? runClass<T>(job, context, inputs)
                               : runOptions<T>(job, context, inputs, outputs);
  ASSERT_TRUE(report.has_value()) << "not bounded";
  EXPECT_TRUE(report->bounded);
  EXPECT_EQ(report->endedBy, ubt::EndedBy::kComplete);
  EXPECT_EQ(report->pairsMissing, 0u);
  EXPECT_EQ(report->driftElements, 0u);
  for (const auto& result : outputs.empty() ? inputs : outputs) {
    ASSERT_EQ(std::memcmp(static_cast<const void*>(result.data()),
                          static_cast<const void*>(expected.data()),
                          job.count * sizeof(T)),
              0)
        << "rank " << context->rank;
  }
}

template <typename T>
void runJob(const Job& job) {
  SCOPED_TRACE(std::to_string(job.count) + " elements, " +
               std::to_string(job.inputs) + " inputs");
  std::vector<T> expected;
  for (size_t i = 0; i < job.count; i++) {
    int sum = 0;
    for (int rank = 0; rank < job.ranks; rank++) {
      for (int input = 0; input < job.inputs; input++) {
        sum += valueAt(rank, input, i);
      }
    }
    expected.emplace_back(sum);
  }
  const Transport transport{"ubt bounded", &createDevice};
  const auto error =
      sharedRanks(transport, job.ranks).run([&](const auto& context) {
        runRank<T>(job, context, expected);
      });
  if (!error.empty()) {
    forgetRanks(transport, job.ranks);
    FAIL() << error;
  }
}

struct Ranks {
  int count;
  bool hierarchical;
};

using Cell = std::tuple<Ranks, Type, Form>;

class BoundedMatrix : public ::testing::TestWithParam<Cell> {};

TEST_P(BoundedMatrix, EqualsAPlainSum) {
  const auto& [ranks, type, form] = GetParam();
  for (const size_t count :
       {size_t(1), size_t(ranks.count) - 1, size_t(30011)}) {
    for (const int inputs : {1, 3}) {
      const Job job{form, ranks.count, ranks.hierarchical, inputs, count};
      switch (type) {
        case Type::kFloat:
          runJob<float>(job);
          break;
        case Type::kDouble:
          runJob<double>(job);
          break;
        case Type::kFloat16:
          runJob<float16>(job);
          break;
        case Type::kBfloat16:
          runJob<Bfloat16>(job);
          break;
      }
    }
  }
}

std::string cellName(const ::testing::TestParamInfo<Cell>& info) {
  constexpr const char* kTypes[] = {"float", "double", "float16", "bfloat16"};
  constexpr const char* kForms[] = {"Class", "InPlace", "Separate"};
  const Ranks& ranks = std::get<0>(info.param);
  return std::to_string(ranks.count) +
         (ranks.hierarchical ? "ranksInGroups_" : "ranks_") +
         kTypes[static_cast<int>(std::get<1>(info.param))] + "_" +
         kForms[static_cast<int>(std::get<2>(info.param))];
}

// In one group, or in 2, 3, 3 and 5 groups (GLOO_UBT_GROUPS=auto).
const auto kRanks = ::testing::Values(Ranks{2, false},
                                      Ranks{3, false},
                                      Ranks{8, false},
                                      Ranks{33, false},
                                      Ranks{65, false},
                                      Ranks{4, true},
                                      Ranks{9, true},
                                      Ranks{33, true},
                                      Ranks{65, true});

INSTANTIATE_TEST_SUITE_P(
    GloosTypes,
    BoundedMatrix,
    ::testing::Combine(
        kRanks,
        ::testing::Values(Type::kFloat, Type::kDouble, Type::kFloat16),
        ::testing::Values(Form::kClass, Form::kInPlace, Form::kSeparate)),
    cellName);

INSTANTIATE_TEST_SUITE_P(Bfloat16,
                         BoundedMatrix,
                         ::testing::Combine(kRanks,
                                            ::testing::Values(Type::kBfloat16),
                                            ::testing::Values(Form::kInPlace,
                                                              Form::kSeparate)),
                         cellName);

}  // namespace
}  // namespace testing
}  // namespace gloo
