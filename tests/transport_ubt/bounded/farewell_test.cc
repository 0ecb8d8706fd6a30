// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/farewell.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>

#include "algorithms/context_mesh.h"
#include "tests/conformance/device_factory.h"
#include "tests/conformance/local_ranks.h"

namespace gloo {
namespace testing {
namespace {

using ubt::bidFarewell;

TEST(Farewell, noRankLeavesBeforeAllCome) {
  constexpr int kRanks = 3;
  std::atomic<int> came{0};
  LocalRanks mesh(tcpTransport(), kRanks);
  EXPECT_EQ(mesh.run([&](const auto& context) {
    for (int farewells = 1; farewells <= 100; farewells++) {
      came++;
      bidFarewell(contextMesh(*context), std::chrono::seconds(20));
      EXPECT_GE(came, farewells * kRanks);
    }
  }),
            "");
}

TEST(Farewell, isNoLongerThanItsTimeoutAndSaysNothing) {
  LocalRanks mesh(tcpTransport(), 2);
  EXPECT_EQ(mesh.run([&](const auto& context) {
    if (context->rank == 0) {
      bidFarewell(contextMesh(*context), std::chrono::milliseconds(20));
    }
  }),
            "");
}

TEST(Farewell, goesOnWithTheOthersWhereOneIsGone) {
  signal(SIGPIPE, SIG_IGN);  // required for programs over Gloo's tcp
  constexpr auto kFarTooLong = std::chrono::hours(1);
  std::atomic<int> came{0};
  LocalRanks mesh(tcpTransport(), 3);
  EXPECT_EQ(mesh.run([&](const auto& context) {
    if (context->rank == 0) {
      context->closeConnections();
    } else {
      came++;
      bidFarewell(contextMesh(*context), kFarTooLong);
      EXPECT_EQ(came, 2);
    }
  }),
            "");
}

}  // namespace
}  // namespace testing
}  // namespace gloo
