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

// Less than 10 s. Then the silent rank is given up, and that ends calls.
constexpr auto kEndless = 8s;

// A rank of two contexts; the other rank is silent in both.
class WaitingCalls : public ::testing::Test {
 protected:
  WaitingCalls() : peer_(onLoopback()), driver_(options(), reductionKernels()) {
    long_ = open(1);
    short_ = open(2);
  }
  ~WaitingCalls() override {
    driver_.close(short_);
    driver_.close(long_);
  }

  static Driver::Options options() {
    Driver::Options options;
    options.socket = onLoopback();
    // Otherwise a call that no thread wakes notices its end by itself.
    options.overdueMax = 1h;
    return options;
  }
  Session* open(uint64_t epoch) {
    Session::Setup setup;
    setup.size = 2;
    setup.epoch = epoch;
    setup.slotBytesMax = 1024;
    setup.keys.resize(setup.size);
    setup.windowBytes.assign(setup.size, 1 << 20);
    return driver_.open(
        setup, std::vector<SocketAddress>(setup.size, peer_.address()));
  }
  std::future<bool> allreduce(Session* session,
                              uint32_t tag,
                              Duration timeout) {
    return std::async(std::launch::async, [this, session, tag, timeout] {
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
                               timeout,
                               &report,
                               &failure);
    });
  }

  UdpSocket peer_;
  Driver driver_;
  Session* long_ = nullptr;   // of calls that last
  Session* short_ = nullptr;  // of calls that soon time out
};

TEST_F(WaitingCalls, EndAtTheirTimeoutThoughAnotherCallDrivesOn) {
  auto drives = allreduce(long_, 0, 1h);
  // Its announcement shows that the call has begun and drives.
  peer_.wait(-1, false, Duration(kEndless).count());
  std::vector<std::future<bool>> waiting;
  for (uint32_t tag = 0; tag < 3; tag++) {
    waiting.push_back(allreduce(short_, tag, 100ms));
  }
  const auto endless = std::chrono::steady_clock::now() + kEndless;
  for (auto& call : waiting) {
    EXPECT_EQ(call.wait_until(endless), std::future_status::ready);
  }
  driver_.peerClosed(long_, 1, "rank 1 died");
  for (auto& call : waiting) {
    ASSERT_EQ(call.wait_for(kEndless), std::future_status::ready);
    EXPECT_FALSE(call.get());
  }
  ASSERT_EQ(drives.wait_for(kEndless), std::future_status::ready);
  EXPECT_FALSE(drives.get());
}

}  // namespace
}  // namespace ubt
