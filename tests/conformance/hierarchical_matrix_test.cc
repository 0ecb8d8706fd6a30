// SPDX-License-Identifier: Apache-2.0
//
// Compares the hierarchical transpose allreduce with plain loops over groups
// and over their members: groups x type x operation x size x inputs x form.
// Results must be equal in every bit, because the order of operations is part
// of the contract.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/conformance/matrix.h"

namespace gloo {
namespace testing {
namespace {

// The groups of the ranks.
struct Ranks {
  std::string name;
  std::vector<GroupWish> wishes;
};

Ranks inGroups(int ranks, uint32_t groups) {
  return {std::to_string(ranks) + "ranks_" + std::to_string(groups) + "groups",
          equalGroups(ranks, groups)};
}

// `hosts` has one digit per rank: the number of its host.
Ranks byHost(const std::string& hosts) {
  std::vector<int> numbers(hosts.begin(), hosts.end());
  return {"hosts_" + hosts, onHosts(numbers)};
}

using Cell = std::tuple<Transport, Ranks, Type, Operation, Form>;

std::string cellName(const ::testing::TestParamInfo<Cell>& info) {
  return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name +
         "_" +
         jobName(std::get<2>(info.param),
                 std::get<3>(info.param),
                 std::get<4>(info.param));
}

class HierarchicalMatrix : public ::testing::TestWithParam<Cell> {};

TEST_P(HierarchicalMatrix, equalsPlainLoops) {
  const auto& [transport, ranks, type, operation, form] = GetParam();
  const size_t size = ranks.wishes.size();
  const size_t shards = agreedGroups(ranks.wishes).shards();
  Job job = {form, operation, 1, 0};
  job.wishes = ranks.wishes;
  runSizes(type, job, transport, size, {0, 1, shards - 1, size - 1, 1000});
}

const auto kForms = ::testing::Values(Form::kHierarchicalClass,
                                      Form::kHierarchicalInPlace,
                                      Form::kHierarchicalSeparate);

// Every type and operation, with groups of equal and of different sizes.
INSTANTIATE_TEST_SUITE_P(Types,
                         HierarchicalMatrix,
                         ::testing::Combine(::testing::Values(tcpTransport()),
                                            ::testing::Values(inGroups(6, 2),
                                                              byHost("01001")),
                                            everyType(),
                                            everyOperation(),
                                            kForms),
                         cellName);

INSTANTIATE_TEST_SUITE_P(Groups,
                         HierarchicalMatrix,
                         ::testing::Combine(::testing::ValuesIn(transports()),
                                            ::testing::Values(inGroups(1, 1),
                                                              inGroups(2, 1),
                                                              inGroups(2, 2),
                                                              inGroups(3, 3),
                                                              inGroups(4, 2),
                                                              inGroups(6, 3),
                                                              inGroups(7, 1),
                                                              inGroups(7, 7),
                                                              inGroups(8, 2),
                                                              inGroups(8, 4),
                                                              inGroups(9, 3),
                                                              inGroups(16, 4)),
                                            ::testing::Values(Type::kFloat,
                                                              Type::kInt64),
                                            ::testing::Values(Operation::kSum),
                                            kForms),
                         cellName);

// Groups of many sizes. Some have a single rank, or ranks that are not
// consecutive.
INSTANTIATE_TEST_SUITE_P(
    Hosts,
    HierarchicalMatrix,
    ::testing::Combine(::testing::ValuesIn(transports()),
                       ::testing::Values(byHost("0000"),
                                         byHost("0123"),
                                         byHost("001"),
                                         byHost("0111"),
                                         byHost("01010101"),
                                         byHost("00011111222"),
                                         byHost("0121211101"),
                                         byHost("0111111"),
                                         byHost("0000111111122222")),
                       ::testing::Values(Type::kFloat),
                       ::testing::Values(Operation::kSum, Operation::kMax),
                       kForms),
    cellName);

INSTANTIATE_TEST_SUITE_P(ManyRanks,
                         HierarchicalMatrix,
                         ::testing::Combine(::testing::ValuesIn(transports()),
                                            ::testing::Values(inGroups(33, 3),
                                                              inGroups(64, 8)),
                                            ::testing::Values(Type::kFloat),
                                            ::testing::Values(Operation::kSum),
                                            kForms),
                         cellName);

}  // namespace
}  // namespace testing
}  // namespace gloo
