// SPDX-License-Identifier: Apache-2.0
//
// Two ranks, over loopback, whose threads mix their tags in different orders.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <vector>

#include "tests/transport_ubt/io/loopback.h"
#include "transport_ubt/io/driver.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace ubt {
namespace {

constexpr int kRanks = 2;
constexpr int kThreads = 8;
constexpr int kTags = 60000;
constexpr Duration kTimeout = std::chrono::seconds(20);

// The sums that one thread of a rank got right, until one went wrong.
int sum(Driver* driver, Session* session, const std::vector<uint32_t>& tags) {
  int right = 0;
  for (const uint32_t tag : tags) {
    std::vector<float> bucket(16, 1.0F);
    OpShape shape;
    shape.elements = bucket.size();
    shape.fingerprint = session->options().fingerprint();
    OpReport report;
    Driver::Failure failure;
    if (!driver->allreduce(session,
                           tag,
                           shape,
                           reinterpret_cast<std::byte*>(bucket.data()),
                           kTimeout,
                           &report,
                           &failure)) {
      ADD_FAILURE() << "tag " << tag << ": " << failure.what;
      return right;
    }
    if (bucket != std::vector<float>(bucket.size(), float{kRanks})) {
      ADD_FAILURE() << "tag " << tag << ": another sum";
      return right;
    }
    right++;
  }
  return right;
}

TEST(ScatteredTags, MeetWhateverTheOrderOfThreads) {
  std::vector<std::unique_ptr<Driver>> drivers;
  std::vector<SocketAddress> addresses;
  for (int rank = 0; rank < kRanks; rank++) {
    Driver::Options options;
    options.socket = onLoopback();
    drivers.push_back(std::make_unique<Driver>(options, reductionKernels()));
    addresses.push_back(drivers[rank]->socket().address());
  }
  std::vector<Session*> sessions;
  for (int rank = 0; rank < kRanks; rank++) {
    Session::Setup setup;
    setup.rank = rank;
    setup.size = kRanks;
    setup.epoch = 1;
    setup.slotBytesMax = 1024;
    setup.keys.resize(kRanks);
    setup.windowBytes.assign(kRanks, 1 << 20);
    setup.options.warmupOps = UINT32_MAX;  // exact: each sum needs both ranks
    setup.options.timeout = kTimeout;
    sessions.push_back(drivers[rank]->open(setup, addresses));
  }

  std::mt19937 random(13);
  std::vector<std::vector<uint32_t>> tags(kThreads);
  for (int i = 0; i < kTags; i++) {
    tags[i % kThreads].push_back(random());
  }
  std::vector<std::future<int>> threads;
  threads.reserve(kRanks * kThreads);
  for (int rank = 0; rank < kRanks; rank++) {
    for (const std::vector<uint32_t>& own : tags) {
      threads.push_back(std::async(std::launch::async, [&, rank] {
        return sum(drivers[rank].get(), sessions[rank], own);
      }));
    }
  }
  int right = 0;
  for (auto& thread : threads) {
    right += thread.get();
  }
  EXPECT_EQ(right, kRanks * kTags);
  for (int rank = 0; rank < kRanks; rank++) {
    drivers[rank]->close(sessions[rank]);
  }
}

}  // namespace
}  // namespace ubt
