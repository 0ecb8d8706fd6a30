// SPDX-License-Identifier: Apache-2.0
//
// The ranks' agreement for a hierarchical transpose, in both forms.
#include <gloo/common/error.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/context_groups.h"
#include "algorithms/context_mesh.h"
#include "algorithms/hierarchical_transpose_allreduce.h"
#include "tests/conformance/transpose_job.h"
#include "tests/support/environment_variable.h"
#include "transport_ubt/device.h"

namespace gloo {
namespace testing {
namespace {

using test::EnvironmentVariable;
using ubt::Grouping;

constexpr auto kLong = std::chrono::seconds(20);

// Runs one sum of ones in the class form, with the ranks' wishes.
std::string runClasses(LocalRanks& mesh, const std::vector<GroupWish>& wishes) {
  return mesh.run([&](const auto& context) {
    std::vector<float> values(100, 1);
    HierarchicalTransposeAllreduce<float>(context,
                                          {values.data()},
                                          values.size(),
                                          ReductionFunction<float>::sum,
                                          wishes[context->rank])
        .run();
    EXPECT_EQ(values, std::vector<float>(100, wishes.size()));
  });
}

// Agrees twice, on all ranks of a mesh.
std::string agree(LocalRanks& mesh, const std::vector<GroupWish>& wishes) {
  return mesh.run([&](const auto& context) {
    ContextGroups groups;
    const auto ask = [&] {
      return groups.of(
          context, contextMesh(*context), MeshDeadline(kLong), [&] {
            return wishes[context->rank];
          });
    };
    try {
      ask();
    } catch (const Exception&) {
      // From now on the agreement is known, even if other ranks are gone.
    }
    const auto agreed = ask();
    EXPECT_EQ(agreed, ask());
    EXPECT_EQ(agreed->count(), agreedGroups(wishes).count());
  });
}

using Agree = std::string (*)(LocalRanks&, const std::vector<GroupWish>&);

class GroupAgreement : public ::testing::TestWithParam<Agree> {};

TEST_P(GroupAgreement, hostsNeedNotHaveEquallyManyRanks) {
  LocalRanks mesh(tcpTransport(), 5);
  EXPECT_EQ(GetParam()(mesh, onHosts({4, 4, 2, 4, 2})), "");
}

TEST_P(GroupAgreement, ranksThatDifferAreNamedOnAllRanksAlike) {
  auto wishes = equalGroups(4, 2);
  wishes[3].grouping.count = 4;
  LocalRanks mesh(tcpTransport(), 4);
  const std::string why =
      ": hierarchical transpose: rank 0 has GLOO_UBT_GROUPS=2, rank 3 has "
      "GLOO_UBT_GROUPS=4: set the same on all ranks\n";
  EXPECT_EQ(GetParam()(mesh, wishes),
            "rank 0" + why + "rank 1" + why + "rank 2" + why + "rank 3" + why);
}

TEST_P(GroupAgreement, aNumberThatDoesNotDivideTheRanksIsNamed) {
  LocalRanks mesh(tcpTransport(), 4);
  const std::string why =
      ": hierarchical transpose: GLOO_UBT_GROUPS=3: 4 ranks do not divide into "
      "that number of equal groups; set one of 1, 2, 4, or auto or host\n";
  EXPECT_EQ(GetParam()(mesh, equalGroups(4, 3)),
            "rank 0" + why + "rank 1" + why + "rank 2" + why + "rank 3" + why);
}

INSTANTIATE_TEST_SUITE_P(Forms,
                         GroupAgreement,
                         ::testing::Values(&runClasses, &agree),
                         [](const auto& info) {
                           return info.index == 0 ? "Class" : "Options";
                         });

// Every rank's error names two ranks' elements.
TEST(GroupAgreement, ranksThatDisagreeOnTheElementsAreNamed) {
  LocalRanks mesh(tcpTransport(), 3);
  const auto error = mesh.run([](const auto& context) {
    std::vector<float> values(context->rank == 1 ? 7 : 1000);
    HierarchicalTransposeAllreduce<float>(
        context, {values.data()}, values.size())
        .run();
  });
  for (const char* part :
       {"rank 0: hierarchical transpose allreduce: rank 1 brings 7 elements",
        "rank 1: hierarchical transpose allreduce: rank 0 brings 1000",
        "rank 2: hierarchical transpose allreduce: rank 1 brings 7"}) {
    EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
  }
}

TEST(GroupAgreement, aContextForgottenIsNotMistakenForAnother) {
  ContextGroups groups[2];
  for (const int count : {2, 1}) {
    LocalRanks mesh(tcpTransport(), 2);
    const auto error = mesh.run([&](const auto& context) {
      const auto agreed = groups[context->rank].of(
          context, contextMesh(*context), MeshDeadline(kLong), [&] {
            return equalGroups(2, count)[0];
          });
      EXPECT_EQ(agreed->count(), count);
    });
    EXPECT_EQ(error, "");
  }
}

// The settings of a device, if it has any, come from the environment or are set
// by hand.
TEST(GroupWish, isTheDevicesOrTheEnvironments) {
  const auto createDevice = [] {
    transport::ubt::attr attr("127.0.0.1");
    attr.settings.groups = {Grouping::By::kCount, 2};
    return transport::ubt::CreateDevice(attr);
  };
  LocalRanks ubt({"ubt in two groups", createDevice}, 2);
  LocalRanks tcp(tcpTransport(), 2);
  const EnvironmentVariable groups("GLOO_UBT_GROUPS", "host");
  const auto expect = [](LocalRanks& mesh, const std::string& grouping) {
    EXPECT_EQ(mesh.run([&](const auto& context) {
      const auto wish = groupWish(*context);
      EXPECT_EQ(wish.grouping.str(), grouping);
      EXPECT_NE(wish.host, 0u);
      EXPECT_EQ(wish.host, groupWish(*context).host);
    }),
              "");
  };
  expect(ubt, "2");
  expect(tcp, "host");
}

}  // namespace
}  // namespace testing
}  // namespace gloo
