// SPDX-License-Identifier: Apache-2.0
//
// Contexts and devices that begin and end in one process, share a device, and
// are used by several threads.

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "algorithms/bounded_transpose_allreduce.h"
#include "tests/conformance/local_ranks.h"
#include "tests/integration/bounded_sums.h"
#include "transport_ubt/device.h"
#include "transport_ubt/gloo_compat.h"

namespace gloo {
namespace {

using testing::allreduces;
using testing::device;
using testing::kElements;
using testing::LocalRanks;
using ContextPtr = LocalRanks::ContextPtr;

size_t entries(const char* directory) {
  const auto begin = std::filesystem::directory_iterator(directory);
  return std::distance(begin, std::filesystem::directory_iterator());
}

// Waits for threads that have ended, because the kernel may list them for a
// moment.
size_t threadsOnce(size_t expected) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  size_t threads = entries("/proc/self/task");
  while (threads > expected && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    threads = entries("/proc/self/task");
  }
  return threads;
}

// The number of threads of this process that may run a handler of the signal.
size_t threadsOpenTo(int signal) {
  size_t open = 0;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "status");
    std::string line;
    while (std::getline(file, line)) {
      if (line.rfind("SigBlk:", 0) == 0) {
        const uint64_t blocked = std::stoull(line.substr(7), nullptr, 16);
        open += (blocked >> (signal - 1) & 1) == 0;
      }
    }
  }
  return open;
}

// Runs `body` in `count` threads. It gets the thread's number, for example a
// rank.
void onThreads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (int number = 0; number < count; number++) {
    threads.emplace_back([&, number] {
      try {
        body(number);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "thread " << number << ": " << error.what();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

ContextPtr connect(
    rendezvous::Store& store,
    const std::string& prefix,
    std::shared_ptr<transport::Device> on,
    int rank,
    int ranks,
    std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  rendezvous::PrefixStore own(prefix, compat::borrowed(store));
  auto context = std::make_shared<rendezvous::Context>(rank, ranks);
  context->setTimeout(timeout);
  context->connectFullMesh(compat::borrowed(own), on);
  return context;
}

TEST(Lifetimes, DevicesAndContextsLeaveNothingBehind) {
  size_t fds = 0;
  size_t threads = 0;
  for (int round = 0; round < 12; round++) {
    {
      LocalRanks mesh({"ubt", device}, 3);
      EXPECT_EQ(mesh.run([](const ContextPtr& context) {
        allreduces(context, 1, 3);
      }),
                "");
    }
    if (round == 1) {  // libraries have made their lasting allocations by now
      fds = entries("/proc/self/fd");
      threads = entries("/proc/self/task");
    }
  }
  EXPECT_EQ(entries("/proc/self/fd"), fds);
  EXPECT_EQ(threadsOnce(threads), threads);
}

// Gloo's own threads do not block signals, so the number is the same as with
// tcp.
TEST(Lifetimes, NoSignalsHandlerRunsOnAThreadOfTheTransport) {
  LocalRanks tcp(testing::tcpTransport(), 3);
  const size_t before = threadsOpenTo(SIGUSR1);
  const size_t threads = entries("/proc/self/task");
  size_t with = 0;
  {
    LocalRanks other(testing::tcpTransport(), 3);
    with = threadsOpenTo(SIGUSR1) - before;
  }
  ASSERT_EQ(threadsOnce(threads), threads);
  LocalRanks mesh({"ubt", device}, 3);
  EXPECT_EQ(
      mesh.run([](const ContextPtr& context) { allreduces(context, 1, 1); }),
      "");
  for (const int signal : {SIGUSR1, SIGTERM, SIGINT, SIGCHLD}) {
    EXPECT_EQ(threadsOpenTo(signal), before + with) << signal;
  }
}

TEST(Lifetimes, ContextsComeAndGoOnOneDevice) {
  constexpr int kRanks = 2;
  std::shared_ptr<transport::Device> devices[kRanks] = {device(), device()};
  size_t fds = 0;
  size_t threads = 0;
  for (int round = 0; round < 12; round++) {
    rendezvous::HashStore store;
    onThreads(kRanks, [&](int rank) {
      const auto context = connect(store, "a", devices[rank], rank, kRanks);
      allreduces(context, 1, 3);
    });
    if (round == 1) {
      fds = entries("/proc/self/fd");
      threads = entries("/proc/self/task");
    }
  }
  // Gloo's tcp may still be closing the last pair's socket.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (entries("/proc/self/fd") > fds &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  EXPECT_EQ(entries("/proc/self/fd"), fds);
  EXPECT_EQ(threadsOnce(threads), threads);
}

TEST(Lifetimes, ContextsWithoutABoundedAllreduceEndAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < 5; round++) {
    LocalRanks mesh({"ubt", device}, 3);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

// The same as for Gloo's own devices.
TEST(Lifetimes, AContextHoldsItsDevice) {
  const auto holders = [](const std::shared_ptr<transport::Device>& device) {
    rendezvous::HashStore store;
    const ContextPtr context = connect(store, "a", device, 0, 1);
    return device.use_count();
  };
  EXPECT_EQ(holders(device()), holders(testing::tcpTransport().createDevice()));
}

TEST(Timeout, OfACallHoldsWhileWarmingUp) {
  // The contexts' own timeout is 20 s.
  LocalRanks mesh(
      {"ubt", [] { return transport::ubt::CreateDevice("127.0.0.1"); }}, 2);
  EXPECT_EQ(mesh.run([](const ContextPtr& context) {
    if (context->rank == 1) {
      return;
    }
    std::vector<float> values(kElements);
    AllreduceOptions options(context);
    options.setOutput(values.data(), kElements);
    options.setTimeout(std::chrono::milliseconds(300));
    void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
    options.setReduceFunction(sum);
    const auto start = std::chrono::steady_clock::now();
    try {
      boundedTransposeAllreduce(options);
      ADD_FAILURE() << "rank 1 has not entered";
    } catch (const IoException& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("rank 1 has not entered"), std::string::npos) << text;
      EXPECT_NE(text.find("300 ms"), std::string::npos) << text;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start,
              std::chrono::seconds(10));
  }),
            "");
}

TEST(Timeout, IsNotWaitedForTwiceOnceARankIsGivenUp) {
  auto mesh = std::make_unique<LocalRanks>(
      testing::Transport{"ubt",
                         [] {
                           transport::ubt::attr attr("127.0.0.1");
                           attr.settings.protocol.warmupOps = 0;
                           attr.settings.protocol.boundScatter =
                               std::chrono::milliseconds(5);
                           attr.settings.protocol.boundBroadcast =
                               std::chrono::milliseconds(5);
                           return transport::ubt::CreateDevice(attr);
                         }},
      2);
  const auto error = mesh->run([](const ContextPtr& context) {
    if (context->rank == 1) {
      return;  // never enters
    }
    std::vector<float> values(kElements);
    AllreduceOptions options(context);
    options.setOutput(values.data(), kElements);
    options.setTimeout(std::chrono::milliseconds(300));
    void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
    options.setReduceFunction(sum);
    for (int op = 0; op < 10; op++) {
      boundedTransposeAllreduce(options);
    }
  });
  EXPECT_NE(error.find("rank 1 has not entered"), std::string::npos) << error;
  // The contexts' own timeout is 20 s.
  const auto start = std::chrono::steady_clock::now();
  mesh.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

// Gloo's kNoTimeout, and a timeout that is too long for a clock in nanoseconds.
TEST(Timeout, OfNoneAtAllOrAnAgeWaitsForRanksThatComeLate) {
  for (const std::chrono::milliseconds timeout :
       {std::chrono::milliseconds(0),
        std::chrono::milliseconds(int64_t{1} << 50)}) {
    rendezvous::HashStore store;
    onThreads(2, [&](int rank) {
      auto context = connect(store,
                             "a",
                             transport::ubt::CreateDevice("127.0.0.1"),
                             rank,
                             2,
                             std::chrono::milliseconds(0));
      context->setTimeout(timeout);
      if (rank == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
      std::vector<float> values(kElements, 1);
      BoundedTransposeAllreduce<float> algorithm(
          context, {values.data()}, kElements);
      algorithm.run();
      EXPECT_TRUE(algorithm.report().has_value());
      EXPECT_EQ(values[0], 2);
      // The options form, first exact, then bounded.
      AllreduceOptions options(context);
      options.setOutput(values.data(), kElements);
      void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
      options.setReduceFunction(sum);
      transposeAllreduce(options);
      EXPECT_EQ(values[0], 4);
      EXPECT_TRUE(boundedTransposeAllreduce(options).has_value());
      EXPECT_EQ(values[0], 8);
    });
  }
}

TEST(Sharing, TwoContextsOnOneDeviceAtOnce) {
  constexpr int kRanks = 3;
  rendezvous::HashStore store;
  onThreads(kRanks, [&](int rank) {
    const auto shared = device();
    const auto one = connect(store, "one", shared, rank, kRanks);
    const auto two = connect(store, "two", shared, rank, kRanks);
    std::thread other([&] { allreduces(two, 1, 25); });
    allreduces(one, 1, 25);
    other.join();
  });
}

TEST(Sharing, ThreadsOnOneContextWithTagsOfTheirOwn) {
  constexpr int kThreads = 4;
  LocalRanks mesh({"ubt", device}, 3);
  EXPECT_EQ(mesh.run([](const ContextPtr& context) {
    onThreads(kThreads, [&](int tag) { allreduces(context, tag, 25); });
  }),
            "");
}

TEST(Sharing, MoreThreadsThanTheLeadHasOps) {
  constexpr int kThreads = 9;
  LocalRanks mesh({"ubt", device}, 2);
  EXPECT_EQ(mesh.run([](const ContextPtr& context) {
    onThreads(kThreads, [&](int number) {
      // The ranks' threads start in opposite orders.
      const int tag = context->rank == 0 ? number : kThreads - 1 - number;
      allreduces(context, tag, 8);
    });
  }),
            "");
}

}  // namespace
}  // namespace gloo
