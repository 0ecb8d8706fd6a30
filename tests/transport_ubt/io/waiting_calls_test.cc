// SPDX-License-Identifier: Apache-2.0
//
// Calls that wait while another thread's call drives the socket.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <vector>

#include "tests/transport_ubt/io/loopback.h"
#include "transport_ubt/io/driver.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace ubt {
namespace {

using namespace std::chrono_literals;

constexpr auto kEndless = 20s;

// A rank of two contexts; the other rank is silent in both.
class WaitingCalls : public ::testing::Test {
 protected:
  WaitingCalls() : peer_(onLoopback()), driver_(options(), reductionKernels()) {
    long_ = open(1, 1h);
    short_ = open(2, 20ms);
  }
  ~WaitingCalls() override {
    driver_.close(short_);
    driver_.close(long_);
  }

  static Driver::Options options() {
    Driver::Options options;
    options.socket = onLoopback();
    return options;
  }
  Session* open(uint64_t epoch, Duration bound) {
    Session::Setup setup;
    setup.size = 2;
    setup.epoch = epoch;
    setup.slotBytesMax = 1024;
    setup.keys.resize(setup.size);
    setup.windowBytes.assign(setup.size, 1 << 20);
    setup.options.repair = RepairPolicy::kNone;
    setup.options.warmupOps = 0;
    setup.options.boundScatter = setup.options.boundBroadcast = bound;
    return driver_.open(
        setup, std::vector<SocketAddress>(setup.size, peer_.address()));
  }
  std::future<bool> allreduce(Session* session, uint32_t tag) {
    return std::async(std::launch::async, [this, session, tag] {
      std::vector<float> bucket(1000, 1);
      OpShape shape;
      shape.elements = bucket.size();
      shape.fingerprint = session->options().fingerprint();
      OpReport report;
      Driver::Failure failure;
      return driver_.allreduce(session,
                               tag,
                               shape,
                               reinterpret_cast<std::byte*>(bucket.data()),
                               1h,
                               &report,
                               &failure);
    });
  }

  UdpSocket peer_;
  Driver driver_;
  Session* long_ = nullptr;   // of calls that last
  Session* short_ = nullptr;  // of calls that end by a bound
};

TEST_F(WaitingCalls, EndAtTheirBoundThoughAnotherCallDrivesOn) {
  auto drives = allreduce(long_, 0);
  // Its announcement: the call has begun, and drives.
  peer_.wait(-1, false, Duration(kEndless).count());
  std::vector<std::future<bool>> waiting;
  for (uint32_t tag = 0; tag < 3; tag++) {
    waiting.push_back(allreduce(short_, tag));
  }
  const auto endless = std::chrono::steady_clock::now() + kEndless;
  for (auto& call : waiting) {
    EXPECT_EQ(call.wait_until(endless), std::future_status::ready);
  }
  driver_.peerClosed(long_, 1, "rank 1 died");
  for (auto& call : waiting) {
    ASSERT_EQ(call.wait_for(kEndless), std::future_status::ready);
    EXPECT_TRUE(call.get());
  }
  ASSERT_EQ(drives.wait_for(kEndless), std::future_status::ready);
  EXPECT_FALSE(drives.get());
}

}  // namespace
}  // namespace ubt
