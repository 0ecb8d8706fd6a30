// SPDX-License-Identifier: Apache-2.0
//
// Two ranks in two networks, on a link of 9,000 bytes that drops some UDP
// packets.

#include <gloo/common/error.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "tests/integration/bounded_sums.h"
#include "tests/support/private_network.h"
#include "transport_ubt/gloo_compat.h"

namespace gloo {
namespace testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kRanks = 2;
constexpr const char* kIps[kRanks] = {"10.0.0.1", "10.0.0.2"};

class PathsTest : public ::testing::Test {
 protected:
  using Body = std::function<void(const std::shared_ptr<Context>&)>;

  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    if (!test::PrivateNetwork::possible()) {
      GTEST_SKIP() << "needs the right to make network namespaces, and `ip`";
    }
    networks_ = std::make_unique<test::PrivateNetwork[]>(kRanks);
    test::connect({&networks_[0], &networks_[1], "wire", "wire", 9000});
    for (int rank = 0; rank < kRanks; rank++) {
      networks_[rank].run(std::string("ip addr add ") + kIps[rank] +
                          "/24 dev wire");
      // The link passes single datagrams, as a real wire does.
      networks_[rank].run("ip link set wire gso_max_segs 1");
    }
  }

  // The rank's host drops the other rank's packets that match the rule.
  void drop(const std::string& rule, int rank = 1) {
    networks_[rank].drop(std::string("ip saddr ") + kIps[1 - rank] +
                         " ip protocol udp " + rule);
  }

  // Runs `body` at each rank with a context. Returns the errors by rank.
  std::vector<std::string> run(const Body& body) {
    rendezvous::HashStore store;
    std::vector<std::future<std::string>> ranks;
    ranks.reserve(kRanks);
    for (int rank = 0; rank < kRanks; rank++) {
      ranks.push_back(std::async(std::launch::async, [&, rank] {
        std::string failure;
        networks_[rank].within([&] {
          try {
            transport::ubt::attr attr(kIps[rank]);
            attr.settings.protocol.warmupOps = 100;  // every sum is exact
            auto context = std::make_shared<rendezvous::Context>(rank, kRanks);
            context->setTimeout(std::chrono::seconds(60));
            auto device = transport::ubt::CreateDevice(attr);
            context->connectFullMesh(compat::borrowed(store), device);
            body(context);
          } catch (const std::exception& error) {
            failure = error.what();
          }
        });
        return failure;
      }));
    }
    std::vector<std::string> failures;
    failures.reserve(kRanks);
    for (auto& rank : ranks) {
      failures.push_back(rank.get());
    }
    return failures;
  }

  struct Ended {
    std::vector<std::string> failures;  // by rank
    std::string warnings;
  };
  // Runs a job. At its second sum the hosts of these ranks begin to drop the
  // other rank's datagrams. Returns the errors.
  Ended block(const std::vector<int>& deaf) {
    std::promise<void> done[kRanks];
    std::promise<void> blocked;
    const auto blockedFuture = blocked.get_future().share();
    ::testing::internal::CaptureStderr();
    auto job = std::async(std::launch::async, [&] {
      return run([&](const auto& context) {
        allreduces(context, 0, 1);
        done[context->rank].set_value();
        blockedFuture.wait();
        allreduces(context, 0, 1);
      });
    });
    for (auto& rank : done) {
      rank.get_future().wait();
    }
    for (const int rank : deaf) {
      drop("", rank);
    }
    blocked.set_value();
    Ended ended;
    ended.failures = job.get();
    ended.warnings = ::testing::internal::GetCapturedStderr();
    return ended;
  }

  static auto warnsOf(int rank) {
    return AllOf(HasSubstr("has arrived from rank " + std::to_string(rank) +
                           " (" + kIps[rank] + ":"),
                 HasSubstr("GLOO_UBT_PORTS"),
                 HasSubstr("GLOO_SOCKET_IFNAME"));
  }

  std::unique_ptr<test::PrivateNetwork[]> networks_;
};

TEST_F(PathsTest, AHopThatDropsLargeDatagramsSilentlyStopsNoSum) {
  drop("meta length > 1500");
  for (const std::string& failure :
       run([](const auto& context) { allreduces(context, 0, 5); })) {
    EXPECT_EQ(failure, "");
  }
}

TEST_F(PathsTest, APathBlockedOneWayIsWarnedOfAndItsRankIsNamed) {
  const Ended ended = block({1});
  for (const std::string& failure : ended.failures) {
    EXPECT_THAT(failure, HasSubstr("rank 0"));
  }
  EXPECT_THAT(ended.warnings, warnsOf(0));
}

TEST_F(PathsTest, APathBlockedBothWaysIsWarnedOfByBothRanks) {
  const Ended ended = block({0, 1});
  for (int rank = 0; rank < kRanks; rank++) {
    const int other = 1 - rank;
    EXPECT_THAT(ended.failures[rank],
                HasSubstr("rank " + std::to_string(other)));
    EXPECT_THAT(ended.warnings, warnsOf(other));
  }
}

}  // namespace
}  // namespace testing
}  // namespace gloo
