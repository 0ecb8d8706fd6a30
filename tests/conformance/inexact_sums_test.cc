// SPDX-License-Identifier: Apache-2.0
//
// Tests the bounded path over UDP with values whose sums are rounded. Ranks get
// the same bits, and these are near the sum in double precision. Runs once with
// default settings, so that ops warm up, learn bounds, expire and are repaired.
// Runs again with bounds that never expire.
#include <gloo/math.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "algorithms/hierarchical_bounded_transpose_allreduce.h"
#include "tests/conformance/elements.h"
#include "tests/conformance/local_ranks.h"
#include "transport_ubt/device.h"

namespace gloo {
namespace testing {
namespace {

// More ops than warm-up takes.
constexpr int kCalls = 30;
// More than GLOO_UBT_MIN_BYTES in every type.
constexpr size_t kElements = 140001;
constexpr auto kBound = std::chrono::seconds(60);

std::shared_ptr<transport::Device> defaultDevice() {
  return transport::ubt::CreateDevice(transport::ubt::attr("127.0.0.1"));
}

std::shared_ptr<transport::Device> patientDevice() {
  transport::ubt::attr attr("127.0.0.1");
  auto& protocol = attr.settings.protocol;
  protocol.boundScatter = protocol.boundBroadcast = kBound;
  protocol.repair = ubt::RepairPolicy::kBoth;
  return transport::ubt::CreateDevice(attr);
}

enum class Bounds { kDefault, kPatient };

struct Ranks {
  int count;
  bool hierarchical;
};

template <typename T>
struct Result {
  std::vector<T> values;
  ubt::OpReport report;
};

template <typename T>
Result<T> sumOnce(const std::shared_ptr<Context>& context,
                  bool hierarchical,
                  int call) {
  Result<T> result;
  result.values =
      inputOf<T>(Operation::kSum, context->rank, call % 8, kElements);
  AllreduceOptions options(context);
  options.setOutput(result.values.data(), kElements);
  void (*add)(void*, const void*, const void*, size_t) = &sum<T>;
  options.setReduceFunction(add);
  const BoundedReport report =
      hierarchical ? hierarchicalBoundedTransposeAllreduce(options)
                   : boundedTransposeAllreduce(options);
  EXPECT_TRUE(report.has_value()) << "not on the bounded path";
  result.report = report.value_or(ubt::OpReport());
  return result;
}

// The relative error of a sum in type T, by the magnitudes of its summands.
template <typename T>
double rounding() {
  if constexpr (std::is_same<T, float16>::value) {
    return 0x1p-10;
  } else {
    return std::numeric_limits<T>::epsilon();
  }
}

template <typename T>
double valueOf(T value) {
  if constexpr (std::is_same<T, float16>::value) {
    return cpu_half2float(value);
  } else {
    return value;
  }
}

template <typename T>
void expectNearSum(const std::vector<T>& got, int ranks, int call) {
  std::vector<double> sums(kElements);
  std::vector<double> magnitudes(kElements);
  for (int rank = 0; rank < ranks; rank++) {
    const auto input = inputOf<T>(Operation::kSum, rank, call % 8, kElements);
    for (size_t i = 0; i < kElements; i++) {
      sums[i] += valueOf(input[i]);
      magnitudes[i] += std::abs(valueOf(input[i]));
    }
  }
  for (size_t i = 0; i < kElements; i++) {
    ASSERT_NEAR(valueOf(got[i]), sums[i], ranks * rounding<T>() * magnitudes[i])
        << "element " << i << " of call " << call;
  }
}

template <typename T>
void runJob(const Ranks& ranks, Bounds bounds) {
  const Transport transport =
      bounds == Bounds::kDefault
          ? Transport{"ubt by default", &defaultDevice}
          : Transport{"ubt with patience", &patientDevice};
  std::vector<std::vector<Result<T>>> results(ranks.count);
  const auto error =
      sharedRanks(transport, ranks.count).run([&](const auto& context) {
        for (int call = 0; call < kCalls; call++) {
          results[context->rank].push_back(
              sumOnce<T>(context, ranks.hierarchical, call));
        }
      });
  if (!error.empty()) {
    forgetRanks(transport, ranks.count);
    FAIL() << error;
  }
  int complete = 0;
  for (int call = 0; call < kCalls; call++) {
    const Result<T>& first = results[0][call];
    for (int rank = 0; rank < ranks.count; rank++) {
      const Result<T>& result = results[rank][call];
      ASSERT_EQ(result.report.driftElements, 0u);
      ASSERT_EQ(std::memcmp(static_cast<const void*>(result.values.data()),
                            static_cast<const void*>(first.values.data()),
                            kElements * sizeof(T)),
                0)
          << "rank " << rank << ", call " << call;
    }
    // If contributions are left out, the result is an estimate of the sum.
    if (first.report.pairsMissing == 0) {
      complete++;
      expectNearSum(first.values, ranks.count, call);
    } else {
      EXPECT_TRUE(first.report.bounded) << "call " << call << " is exact";
      EXPECT_EQ(bounds, Bounds::kDefault) << "call " << call;
    }
  }
  EXPECT_GT(complete, 0);
}

enum class Type { kFloat, kDouble, kFloat16 };
using Cell = std::tuple<Ranks, Type, Bounds>;

class InexactSums : public ::testing::TestWithParam<Cell> {};

TEST_P(InexactSums, AreTheSameEverywhereAndNearTheSum) {
  const auto& [ranks, type, bounds] = GetParam();
  switch (type) {
    case Type::kFloat:
      runJob<float>(ranks, bounds);
      break;
    case Type::kDouble:
      runJob<double>(ranks, bounds);
      break;
    case Type::kFloat16:
      runJob<float16>(ranks, bounds);
      break;
  }
}

std::string cellName(const ::testing::TestParamInfo<Cell>& info) {
  constexpr const char* kTypes[] = {"float", "double", "float16"};
  constexpr const char* kBounds[] = {"Default", "Patient"};
  const Ranks& ranks = std::get<0>(info.param);
  return std::to_string(ranks.count) +
         (ranks.hierarchical ? "ranksInGroups_" : "ranks_") +
         kTypes[static_cast<int>(std::get<1>(info.param))] + "_" +
         kBounds[static_cast<int>(std::get<2>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(
    Sizes,
    InexactSums,
    ::testing::Combine(
        ::testing::Values(
            Ranks{2, false}, Ranks{3, false}, Ranks{8, false}, Ranks{4, true}),
        ::testing::Values(Type::kFloat, Type::kDouble, Type::kFloat16),
        ::testing::Values(Bounds::kDefault, Bounds::kPatient)),
    cellName);

}  // namespace
}  // namespace testing
}  // namespace gloo
