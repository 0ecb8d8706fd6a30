// SPDX-License-Identifier: Apache-2.0
//
// Compares the allreduce by halving and doubling over tcp with plain loops in
// the same order: type x operation x size x ranks x inputs x form. Results must
// be equal in every bit, because the order of operations is part of the
// contract.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/conformance/matrix.h"

namespace gloo {
namespace testing {
namespace {

using Cell = std::tuple<int, Type, Operation, Form>;

std::string cellName(const ::testing::TestParamInfo<Cell>& info) {
  return std::to_string(std::get<0>(info.param)) + "ranks_" +
         jobName(std::get<1>(info.param),
                 std::get<2>(info.param),
                 std::get<3>(info.param));
}

class HalvingDoublingMatrix : public ::testing::TestWithParam<Cell> {};

TEST_P(HalvingDoublingMatrix, equalsPlainLoops) {
  const auto& [ranks, type, operation, form] = GetParam();
  runSizes(type, {form, operation, 1, 0}, tcpTransport(), ranks);
}

const auto kForms = ::testing::Values(Form::kHalvingDoublingInPlace,
                                      Form::kHalvingDoublingSeparate);

// Every type and operation, with 2 ranks, the minimum, and with 5, which is one
// more than a power of two.
INSTANTIATE_TEST_SUITE_P(Types,
                         HalvingDoublingMatrix,
                         ::testing::Combine(::testing::Values(2, 5),
                                            everyType(),
                                            everyOperation(),
                                            kForms),
                         cellName);

INSTANTIATE_TEST_SUITE_P(
    Ranks,
    HalvingDoublingMatrix,
    ::testing::Combine(::testing::Values(1, 3, 4, 6, 7, 8, 15, 16),
                       ::testing::Values(Type::kFloat, Type::kInt64),
                       ::testing::Values(Operation::kSum, Operation::kMax),
                       kForms),
    cellName);

INSTANTIATE_TEST_SUITE_P(ManyRanks,
                         HalvingDoublingMatrix,
                         ::testing::Combine(::testing::Values(33, 63, 64),
                                            ::testing::Values(Type::kFloat),
                                            ::testing::Values(Operation::kSum),
                                            kForms),
                         cellName);

}  // namespace
}  // namespace testing
}  // namespace gloo
