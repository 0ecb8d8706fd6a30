// SPDX-License-Identifier: Apache-2.0
//
// Compares the exact transpose allreduce with a plain loop, over every
// transport. The bounded one is included where it must be exact because it is
// too small for a bound. The matrix is type x operation x size x ranks x inputs
// x form. Results must be equal in every bit, because the order of operations
// is part of the contract.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/conformance/matrix.h"

namespace gloo {
namespace testing {
namespace {

using Cell = std::tuple<Transport, int, Type, Operation, Form>;

std::string cellName(const ::testing::TestParamInfo<Cell>& info) {
  return std::get<0>(info.param).name + "_" +
         std::to_string(std::get<1>(info.param)) + "ranks_" +
         jobName(std::get<2>(info.param),
                 std::get<3>(info.param),
                 std::get<4>(info.param));
}

class TransposeMatrix : public ::testing::TestWithParam<Cell> {};

TEST_P(TransposeMatrix, equalsAPlainLoop) {
  const auto& [transport, ranks, type, operation, form] = GetParam();
  runSizes(type, {form, operation, 1, 0}, transport, ranks);
}

const auto kForms = ::testing::Values(
    Form::kClass, Form::kOptionsInPlace, Form::kOptionsSeparate);

// Every type and operation, with 2 ranks, the minimum, and with ranks between
// the first and the last.
INSTANTIATE_TEST_SUITE_P(
    Types,
    TransposeMatrix,
    ::testing::Combine(::testing::ValuesIn(transports()),
                       ::testing::Values(2, 5),
                       everyType(),
                       everyOperation(),
                       ::testing::Values(Form::kClass,
                                         Form::kOptionsInPlace,
                                         Form::kOptionsSeparate,
                                         Form::kBoundedClass,
                                         Form::kBoundedOptions)),
    cellName);

INSTANTIATE_TEST_SUITE_P(
    Ranks,
    TransposeMatrix,
    ::testing::Combine(::testing::ValuesIn(transports()),
                       ::testing::Values(1, 3, 4, 6, 7, 8, 16),
                       ::testing::Values(Type::kFloat, Type::kInt64),
                       ::testing::Values(Operation::kSum, Operation::kMax),
                       kForms),
    cellName);

INSTANTIATE_TEST_SUITE_P(ManyRanks,
                         TransposeMatrix,
                         ::testing::Combine(::testing::ValuesIn(transports()),
                                            ::testing::Values(33, 64),
                                            ::testing::Values(Type::kFloat),
                                            ::testing::Values(Operation::kSum),
                                            kForms),
                         cellName);

}  // namespace
}  // namespace testing
}  // namespace gloo
