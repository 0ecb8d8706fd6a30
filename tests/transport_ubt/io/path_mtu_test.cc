// SPDX-License-Identifier: Apache-2.0
//
// The path from rank 0 to rank 1 shrinks, or loses trains.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/two_hosts.h"
#include "transport_ubt/io/driver.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace ubt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kRanks = test::TwoHosts::kRanks;
constexpr int kLessMtu = 1500;
constexpr size_t kSlotBytes = 8896;
// Several trains for each rank.
constexpr size_t kElements = 1 << 20;

class PathMtuTest : public ::testing::Test {
 protected:
  explicit PathMtuTest(bool trains = true) : trains_(trains) {}
  void SetUp() override {
    if (!test::PrivateNetwork::possible()) {
      GTEST_SKIP() << "needs the right to make network namespaces, and `ip`";
    }
    hosts_ = std::make_unique<test::TwoHosts>();
    for (int rank = 0; rank < kRanks; rank++) {
      hosts_->of(rank).within([&] {
        Driver::Options options;
        options.socket.address = test::TwoHosts::addressOf(rank);
        options.socket.segmentation = trains_;
        // Any buffer is large enough for it, so no warning is about buffers.
        options.limits.windowBytesMax = 64 << 10;
        options.socket.warn = [this, rank](const std::string& warning) {
          const std::lock_guard<std::mutex> lock(mutex_);
          warnings_[rank].push_back(warning);
        };
        drivers_.push_back(
            std::make_unique<Driver>(options, reductionKernels()));
      });
    }
    std::vector<SocketAddress> addresses;
    addresses.reserve(kRanks);
    for (const auto& driver : drivers_) {
      addresses.push_back(driver->socket().address());
    }
    for (int rank = 0; rank < kRanks; rank++) {
      Session::Setup setup;
      setup.rank = rank;
      setup.size = kRanks;
      setup.epoch = 1;
      setup.slotBytesMax = kSlotBytes;
      setup.keys.resize(kRanks);
      setup.windowBytes.assign(kRanks, 1 << 20);
      sessions_.push_back(drivers_[rank]->open(
          setup, addresses, rank == 0 ? losesTrains_ : std::vector<int>()));
    }
  }
  void TearDown() override {
    for (size_t rank = 0; rank < sessions_.size(); rank++) {
      drivers_[rank]->close(sessions_[rank]);
    }
  }

  // Checks every rank's sum in a warm-up op: all losses are repaired.
  void expectSums(uint32_t tag) {
    std::vector<std::future<std::string>> calls;
    calls.reserve(kRanks);
    for (int rank = 0; rank < kRanks; rank++) {
      calls.push_back(std::async(std::launch::async, [this, rank, tag] {
        std::vector<float> bucket(kElements, static_cast<float>(rank + 1));
        OpShape shape;
        shape.elements = bucket.size();
        shape.fingerprint = sessions_[rank]->options().fingerprint();
        OpReport report;
        Driver::Failure failure;
        const bool yielded = drivers_[rank]->allreduce(
            sessions_[rank],
            tag,
            shape,
            reinterpret_cast<std::byte*>(bucket.data()),
            std::chrono::seconds(20),
            &report,
            &failure);
        const std::vector<float> right(kElements, 1 + 2 + 3);
        return yielded && bucket != right ? "wrong sums" : failure.what;
      }));
    }
    for (auto& call : calls) {
      EXPECT_EQ(call.get(), "");
    }
  }

  uint64_t failedSends(int rank) {
    return drivers_[rank]->counters().get(Counter::kSendFailed);
  }

  const bool trains_;
  std::vector<int> losesTrains_;  // on the way from rank 0
  std::unique_ptr<test::TwoHosts> hosts_;
  std::vector<std::unique_ptr<Driver>> drivers_;
  std::vector<Session*> sessions_;
  std::mutex mutex_;
  std::vector<std::string> warnings_[kRanks];
};

class WithAndWithoutTrains : public PathMtuTest,
                             public ::testing::WithParamInterface<bool> {
 protected:
  WithAndWithoutTrains() : PathMtuTest(GetParam()) {}
};

TEST_P(WithAndWithoutTrains, APathThatShrinksLosesNothingAndIsNamedOnce) {
  uint32_t tag = 0;
  expectSums(tag++);
  const std::string route = "ip route replace 10.0.0.2/32 dev here mtu ";
  hosts_->here().run(route + std::to_string(kLessMtu));
  for (int op = 0; op < 5; op++) {
    expectSums(tag++);
  }
  for (int rank = 0; rank < kRanks; rank++) {
    EXPECT_EQ(failedSends(rank), 0u) << "rank " << rank;
  }
  // The kernel fragments single datagrams; nothing else needs to change.
  ASSERT_EQ(warnings_[0].size(), GetParam() ? 1u : 0u);
  EXPECT_TRUE(warnings_[1].empty());
  EXPECT_TRUE(warnings_[2].empty());
  if (GetParam()) {
    EXPECT_THAT(warnings_[0][0],
                AllOf(HasSubstr("rank 1 (10.0.0.2:"),
                      HasSubstr("errno "),
                      HasSubstr("GLOO_UBT_MTU"),
                      Not(HasSubstr("10.0.0.3"))));
  }
}

// Trains to the other ranks continue, because their paths differ.
TEST_F(PathMtuTest, OtherPeersKeepTheirTrains) {
  hosts_->here().run("ip route replace 10.0.0.2/32 dev here mtu " +
                     std::to_string(kLessMtu));
  expectSums(0);
  EXPECT_TRUE(drivers_[0]->socket().segmentation());
  hosts_->here().run("ip route replace 10.0.0.3/32 dev here mtu " +
                     std::to_string(kLessMtu));
  expectSums(1);
  // A train to the other rank was refused only now.
  ASSERT_EQ(warnings_[0].size(), 2u);
  EXPECT_THAT(warnings_[0][0], HasSubstr("rank 1 (10.0.0.2:"));
  EXPECT_THAT(warnings_[0][1], HasSubstr("rank 2 (10.0.0.3:"));
}

class LostTrains : public PathMtuTest {
 protected:
  LostTrains() { losesTrains_ = {1, 2}; }
};

TEST_F(LostTrains, DatagramsLeaveAloneWhereTrainsGetLost) {
  hosts_->there().drop("ip saddr 10.0.0.1 meta length > 9000");
  expectSums(0);
  EXPECT_THAT(warnings_[0], IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, WithAndWithoutTrains, ::testing::Bool());

}  // namespace
}  // namespace ubt
