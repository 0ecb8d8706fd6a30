// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/mesh_swap.h"

#include <gloo/common/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "algorithms/context_mesh.h"
#include "tests/conformance/device_factory.h"
#include "tests/conformance/local_ranks.h"
#include "transport_ubt/bounded/farewell.h"

namespace gloo {
namespace testing {
namespace {

using ::testing::HasSubstr;
using ubt::MeshSwap;

constexpr uint64_t kSlot = 0xfa00000000000000;
constexpr std::chrono::seconds kLong{20};
constexpr std::chrono::milliseconds kShort{200};

std::vector<uint8_t> messageOf(int rank) {
  return std::vector<uint8_t>(1000, static_cast<uint8_t>(rank + 1));
}

class MeshSwapTest : public ::testing::Test {
 protected:
  // Gloo writes to sockets that the peer has closed.
  static void SetUpTestSuite() { signal(SIGPIPE, SIG_IGN); }

  std::string failureOf(const LocalRanks::ContextPtr& context,
                        std::chrono::milliseconds timeout) {
    auto& swap = swaps_[context->rank];
    swap = std::make_unique<MeshSwap>(
        contextMesh(*context), kSlot, messageOf(context->rank));
    try {
      swap->run(timeout);
      return "";
    } catch (const IoException& error) {
      return error.what();
    }
  }

  std::vector<std::unique_ptr<MeshSwap>> swaps_{3};
};

TEST_F(MeshSwapTest, everyRankLearnsAllMessages) {
  constexpr int kRanks = 4;
  LocalRanks mesh(tcpTransport(), kRanks);
  EXPECT_EQ(mesh.run([&](const auto& context) {
    for (uint64_t slot = kSlot; slot < kSlot + 50; slot++) {
      const auto all =
          MeshSwap(contextMesh(*context), slot, messageOf(context->rank))
              .run(kLong);
      ASSERT_EQ(all.size(), static_cast<size_t>(kRanks));
      for (int rank = 0; rank < kRanks; rank++) {
        EXPECT_EQ(all[rank], messageOf(rank));
      }
    }
  }),
            "");
}

TEST_F(MeshSwapTest, namesTheRankThatDoesNotComeAndClosesNoConnection) {
  LocalRanks mesh(tcpTransport(), 3);
  EXPECT_EQ(mesh.run([&](const auto& context) {
    if (context->rank != 1) {
      EXPECT_THAT(failureOf(context, kShort),
                  HasSubstr("rank 1 has not come to the start"));
    }
  }),
            "");
  EXPECT_EQ(mesh.run([&](const auto& context) {
    if (context->rank == 1) {
      EXPECT_EQ(failureOf(context, kLong), "");  // the others' have come
    }
    ubt::bidFarewell(contextMesh(*context), kLong);
  }),
            "");
}

TEST_F(MeshSwapTest, namesTheRankThatIsGone) {
  LocalRanks mesh(tcpTransport(), 2);
  EXPECT_EQ(mesh.run([&](const auto& context) {
    if (context->rank == 1) {
      context->closeConnections();
    } else {
      EXPECT_THAT(failureOf(context, kLong),
                  HasSubstr("the connection to rank 1 is closed"));
    }
  }),
            "");
}

}  // namespace
}  // namespace testing
}  // namespace gloo
