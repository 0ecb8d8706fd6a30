// SPDX-License-Identifier: Apache-2.0
//
// Threads that share a driver: which of them drives, hands over, or waits, and
// the effects of one thread's failure on the others.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/failing_heap.h"
#include "tests/support/random_yields.h"
#include "tests/transport_ubt/io/two_ranks.h"

namespace ubt {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = TwoRanks::kRanks;
constexpr auto kEndless = 60s;
// Enough for several slots a shard.
constexpr size_t kElements = 3000;

// Sums with the tags of one thread, starting at `tag`. Returns how many were
// right before one failed.
int sum(TwoRanks* job,
        int rank,
        const TwoRanks::Sessions& sessions,
        uint32_t tag,
        int ops) {
  for (int right = 0; right < ops; right++) {
    std::vector<float> bucket(kElements, static_cast<float>(right + rank));
    const std::string why = job->allreduce(rank, sessions, tag, &bucket);
    const std::vector<float> expected(kElements,
                                      static_cast<float>(2 * right + 1));
    if (!why.empty() || bucket != expected) {
      ADD_FAILURE() << "rank " << rank << ", sum " << right << ": " << why;
      return right;
    }
  }
  return ops;
}

// Threads of both ranks, each with a tag of its own in one of several contexts.
class Crowd {
 public:
  Crowd(TwoRanks* job,
        const std::vector<TwoRanks::Sessions>& contexts,
        int threads,
        int ops)
      : expected_(kRanks * threads * ops) {
    for (int rank = 0; rank < kRanks; rank++) {
      for (int thread = 0; thread < threads; thread++) {
        const TwoRanks::Sessions& sessions = contexts[thread % contexts.size()];
        threads_.push_back(
            std::async(std::launch::async, [=, context = sessions] {
              return sum(job, rank, context, 100 + thread, ops);
            }));
      }
    }
  }

  // Whether all have returned in time and every sum is right.
  bool succeeds() {
    const auto endless = std::chrono::steady_clock::now() + kEndless;
    int right = 0;
    for (auto& thread : threads_) {
      if (thread.wait_until(endless) != std::future_status::ready) {
        return false;
      }
      right += thread.get();
    }
    return right == expected_;
  }

 private:
  const int expected_;
  std::vector<std::future<int>> threads_;
};

TEST(DriverThreads, TakeTurnsAtDriving) {
  TwoRanks job;
  const std::vector<TwoRanks::Sessions> contexts{job.open(1), job.open(2)};
  std::atomic<bool> over{false};
  // Calls that drive nothing, and one that comes and goes with its context.
  std::thread onlooker([&] {
    while (!over) {
      (void)job.driver(0).counters();
      (void)job.driver(1).neededBy(contexts[0][1]);
      std::this_thread::yield();
    }
  });
  std::thread comesAndGoes([&] {
    for (uint64_t epoch = 3; !over; epoch++) {
      const TwoRanks::Sessions sessions = job.open(epoch);
      std::vector<float> bucket(kElements, 1);
      // The other rank does not come.
      EXPECT_NE(job.allreduce(0, sessions, 1, &bucket, 2ms), "");
      job.close(sessions);
    }
  });
  EXPECT_TRUE(Crowd(&job, contexts, 4, 150).succeeds());
  over = true;
  onlooker.join();
  comesAndGoes.join();
  for (const auto& sessions : contexts) {
    job.close(sessions);
  }
#ifndef __SANITIZE_THREAD__
  EXPECT_GT(RandomYields::count(), 1000u);
#endif
}

// Why a thread's sums ended: "" or the first error.
std::string errorOf(TwoRanks* job,
                    int rank,
                    const TwoRanks::Sessions& sessions,
                    uint32_t tag,
                    int ops) {
  std::string why;
  for (int op = 0; op < ops && why.empty(); op++) {
    std::vector<float> bucket(kElements, 1);
    why = job->allreduce(rank, sessions, tag, &bucket);
  }
  return why;
}

// One allocation fails in a thread that drives, waits or is asked to drive; in
// the next round the following allocation fails. Then one context may fail: the
// allocation's context, which is the thread's own or one that it drives for.
TEST(DriverThreads, OneThatRunsOutOfMemoryDelaysNoOther) {
  constexpr int kThreads = 2;
  TwoRanks job;
  int failures = 0;
  for (uint64_t before = 0; before < 100; before++) {
    SCOPED_TRACE("allocations before: " + std::to_string(before));
    const TwoRanks::Sessions own = job.open(1 + 2 * before);
    const TwoRanks::Sessions other = job.open(2 + 2 * before);
    std::vector<std::future<std::string>> others;
    others.reserve(kThreads * kRanks);
    for (int i = 0; i < kThreads * kRanks; i++) {
      others.push_back(std::async(std::launch::async, [&, i] {
        return errorOf(&job, i % kRanks, other, 5 + i / kRanks, 10);
      }));
    }
    auto peer = std::async(std::launch::async,
                           [&] { return errorOf(&job, 1, own, 1, 1); });
    std::vector<float> bucket(kElements, 1);
    std::string why;
    FailingHeap::failAfter(before);
    try {
      const FailingHeap::Scope scope;
      why = job.allreduce(0, own, 1, &bucket);
    } catch (const std::bad_alloc&) {
      why = "rank 0: bad_alloc";
    }
    FailingHeap::heal();
    // The bucket is the caller's again.
    bucket.assign(kElements, -1);
    bool otherFails = false;
    for (auto& call : others) {
      ASSERT_EQ(call.wait_for(kEndless), std::future_status::ready);
      const std::string error = call.get();
      otherFails = otherFails || !error.empty();
      EXPECT_TRUE(error.empty() || error.find("rank 0") != std::string::npos)
          << error;
    }
    job.driver(0).close(own[0]);
    ASSERT_EQ(peer.wait_for(kEndless), std::future_status::ready);
    const std::string error = peer.get();
    EXPECT_TRUE(error.empty() || error.find("rank 0") != std::string::npos)
        << error;
    job.driver(1).close(own[1]);
    job.close(other);
    EXPECT_FALSE(otherFails && !why.empty()) << why;
    EXPECT_EQ(bucket, std::vector<float>(kElements, -1));
    failures += otherFails || !why.empty();
  }
  EXPECT_GT(failures, 10);
}

// Adds until it is told to fail.
std::atomic<bool> addFails{false};

Reduction failingReduction() {
  Reduction reduction = reductionKernels();
  reduction.add = [](ElementType type,
                     void* destination,
                     const void* source,
                     size_t count) {
    if (addFails) {
      throw std::runtime_error("rank 0 cannot add");
    }
    reductionKernels().add(type, destination, source, count);
  };
  return reduction;
}

// For any exception and any driving thread: every call of the context fails
// with the cause.
TEST(DriverThreads, ABugThatThrowsFailsAllCallsOfTheContext) {
  addFails = false;
  TwoRanks job(loopback(), failingReduction());
  const TwoRanks::Sessions sessions = job.open(1);
  EXPECT_TRUE(Crowd(&job, {sessions}, 2, 5).succeeds());
  addFails = true;
  std::vector<std::future<std::string>> calls;
  for (int rank = 0; rank < kRanks; rank++) {
    for (uint32_t tag = 0; tag < 3; tag++) {
      calls.push_back(std::async(std::launch::async, [&, rank, tag] {
        std::vector<float> bucket(kElements, 1);
        return job.allreduce(rank, sessions, tag, &bucket);
      }));
    }
  }
  for (size_t i = 0; i < calls.size(); i++) {
    ASSERT_EQ(calls[i].wait_for(kEndless), std::future_status::ready);
    const std::string why = calls[i].get();
    EXPECT_NE(why.find(i < 3 ? "rank 0 cannot add" : "rank 0"),
              std::string::npos)
        << why;
  }
  job.close(sessions);
}

// As if its deadline was lost: the driver expects it before it is due.
TEST(DriverThreads, ACallThatOutlivesItsTimeoutEndsAsABug) {
  TwoRanks job(loopback(), reductionKernels(), -19s);
  const TwoRanks::Sessions sessions = job.open(1, 20s);
  std::vector<std::future<std::string>> calls;
  for (uint32_t tag = 0; tag < 3; tag++) {
    calls.push_back(std::async(std::launch::async, [&, tag] {
      std::vector<float> bucket(kElements, 1);
      return job.allreduce(0, sessions, tag, &bucket);
    }));
  }
  for (auto& call : calls) {
    ASSERT_EQ(call.wait_for(kEndless), std::future_status::ready);
    const std::string why = call.get();
    EXPECT_NE(why.find("outlived its timeout"), std::string::npos) << why;
    EXPECT_NE(why.find("bug"), std::string::npos) << why;
  }
  job.close(sessions);
}

}  // namespace
}  // namespace ubt
