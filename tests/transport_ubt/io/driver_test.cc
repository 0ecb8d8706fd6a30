// SPDX-License-Identifier: Apache-2.0
//
// One rank whose peers never come, while strangers flood its socket.

#include "transport_ubt/io/driver.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/transport_ubt/io/loopback.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace ubt {
namespace {

using namespace std::chrono_literals;

// A longer wait counts as endless.
constexpr auto kEndless = 20s;
constexpr auto kTimeout = 50ms;

// Sends datagrams of one byte, many in each call, until its destruction.
class Flood {
 public:
  explicit Flood(const SocketAddress& to)
      : socket_(onLoopback()), thread_([this, to] { run(to); }) {}
  ~Flood() {
    over_ = true;
    thread_.join();
  }

 private:
  void run(const SocketAddress& to) {
    std::vector<char> bytes(UdpSocket::kTrainSegmentsMax);
    const iovec piece{bytes.data(), bytes.size()};
    while (!over_) {
      socket_.send(to, &piece, 1, 1, true);
    }
  }

  UdpSocket socket_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

class DriverTest : public ::testing::Test {
 public:
  struct Job {
    int ranks = 2;
    IdlePolicy idle;
    Duration bound = 20ms;
  };

 protected:
  DriverTest() : DriverTest(Job{}) {}
  explicit DriverTest(const Job& job) : peer_(onLoopback()) {
    Driver::Options options;
    options.socket = onLoopback();
    options.idle = job.idle;
    driver_ = std::make_unique<Driver>(options, reductionKernels());
    Session::Setup setup;
    setup.size = job.ranks;
    setup.epoch = 1;
    setup.slotBytesMax = 1024;
    setup.keys.resize(job.ranks);
    setup.windowBytes.assign(job.ranks, 1 << 20);
    setup.options.repair = RepairPolicy::kNone;
    setup.options.warmupOps = 0;
    setup.options.boundScatter = setup.options.boundBroadcast = job.bound;
    session_ = driver_->open(
        setup, std::vector<SocketAddress>(job.ranks, peer_.address()));
  }
  ~DriverTest() override { driver_->close(session_); }

  // Whether the call ended because its time was over.
  bool allreduce(uint32_t tag, Duration timeout) {
    std::vector<float> bucket(1000, 1);
    OpShape shape;
    shape.elements = bucket.size();
    shape.fingerprint = session_->options().fingerprint();
    OpReport report;
    Driver::Failure failure;
    const bool yielded =
        driver_->allreduce(session_,
                           tag,
                           shape,
                           reinterpret_cast<std::byte*>(bucket.data()),
                           timeout,
                           &report,
                           &failure);
    return !yielded && failure.what.find("timed out") != std::string::npos;
  }

  UdpSocket peer_;
  std::unique_ptr<Driver> driver_;
  Session* session_ = nullptr;
};

TEST_F(DriverTest, AFloodStopsNoDeadline) {
  const Flood one(driver_->socket().address());
  const Flood another(driver_->socket().address());
  auto call =
      std::async(std::launch::async, [&] { return allreduce(0, kTimeout); });
  ASSERT_EQ(call.wait_for(kEndless), std::future_status::ready);
  EXPECT_TRUE(call.get());
}

TEST_F(DriverTest, ADriverUnderAFloodMakesWay) {
  const Flood one(driver_->socket().address());
  const Flood another(driver_->socket().address());
  std::vector<std::future<bool>> calls;
  for (uint32_t tag = 0; tag < 3; tag++) {
    calls.push_back(std::async(
        std::launch::async, [this, tag] { return allreduce(tag, kTimeout); }));
  }
  auto counters =
      std::async(std::launch::async, [this] { return driver_->counters(); });
  EXPECT_EQ(counters.wait_for(kEndless), std::future_status::ready);
  for (auto& call : calls) {
    ASSERT_EQ(call.wait_for(kEndless), std::future_status::ready);
    EXPECT_TRUE(call.get());
  }
}

// The number of this process's open descriptors.
size_t openDescriptors() {
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  return std::distance(begin(descriptors), end(descriptors));
}

// The descriptors that this process gets next.
std::vector<int> nextDescriptors(int count) {
  std::vector<int> next(count);
  for (int& descriptor : next) {
    descriptor = dup(STDIN_FILENO);
  }
  for (const int descriptor : next) {
    close(descriptor);
  }
  return next;
}

TEST(Driver, LeaksNoDescriptorIfItCannotBegin) {
  Driver::Options options;
  options.socket.address = loopback();
  { const Driver first(options, reductionKernels()); }  // libuv keeps some
  const size_t before = openDescriptors();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit own = limit;
  // Its socket, epoll, eventfd and timerfd, and libuv's first. Without a later
  // one, libuv 1.44 leaks that first one itself.
  for (const int descriptor : nextDescriptors(5)) {
    limit.rlim_cur = descriptor;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_THROW(Driver(options, reductionKernels()), std::system_error);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &own), 0);
    EXPECT_EQ(openDescriptors(), before) << "without " << descriptor;
  }
}

TEST_F(DriverTest, AnEmptyDatagramIsCounted) {
  ASSERT_EQ(peer_.send(driver_->socket().address(), nullptr, 0, 0, false),
            UdpSocket::Sent::kYes);
  EXPECT_TRUE(allreduce(0, kTimeout));  // drains the socket
  EXPECT_EQ(driver_->counters().get(Counter::kMalformed), 1u);
}

// More ranks on this host than may yield to each other. They would nap for very
// long.
DriverTest::Job napping(Duration bound) {
  DriverTest::Job job;
  job.ranks =
      3 * static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  job.idle.nap = 1h;
  job.bound = bound;
  return job;
}

class Napping : public DriverTest {
 protected:
  explicit Napping(Duration bound = 20ms) : DriverTest(napping(bound)) {}
  void SetUp() override {
    if (driver_->windowBytes() < IdlePolicy::kNapWindowBytesMin) {
      GTEST_SKIP() << "nobody naps in a window of " << driver_->windowBytes()
                   << " bytes; run as root, or raise net.core.rmem_max";
    }
  }
};

TEST_F(Napping, EndsByTheNextDeadline) {
  auto call =
      std::async(std::launch::async, [&] { return allreduce(0, kTimeout); });
  ASSERT_EQ(call.wait_for(kEndless), std::future_status::ready);
  EXPECT_TRUE(call.get());
}

class NappingWithoutDeadlines : public Napping {
 protected:
  NappingWithoutDeadlines() : Napping(1h) {}
};

TEST_F(NappingWithoutDeadlines, EndsWithNewsFromTheMesh) {
  auto call = std::async(std::launch::async, [&] { return allreduce(0, 1h); });
  peer_.wait(-1, false, Duration(kEndless).count());  // the call has begun
  driver_->peerClosed(session_, 1, "rank 1 died");
  ASSERT_EQ(call.wait_for(kEndless), std::future_status::ready);
  EXPECT_FALSE(call.get());
}

}  // namespace
}  // namespace ubt
