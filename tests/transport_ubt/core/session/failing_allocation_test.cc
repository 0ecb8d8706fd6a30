// SPDX-License-Identifier: Apache-2.0
//
// Allocations fail, one after another, in the verbs of one rank. Then a session
// breaks, reports the reason to its caller, and tells its peer. The other
// session of the same socket continues.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/failing_heap.h"
#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/session/endpoint.h"
#include "transport_ubt/sim/plain_reduction.h"

namespace ubt {
namespace {

constexpr int kRanks = 2;
constexpr int kContexts = 2;
constexpr int kOps = 2;
constexpr size_t kElements = 700;
constexpr float kTaken = -7;  // in a bucket that its caller has back
constexpr Duration kStep = std::chrono::microseconds(50);
constexpr Duration kTimeout = std::chrono::seconds(1);

struct Variant {
  const char* name;
  Options options;
};

std::ostream& operator<<(std::ostream& out, const Variant& variant) {
  return out << variant.name;
}

// Two ranks, each with an endpoint of its own, and two contexts of both. No
// datagram is lost. Allocations may fail only in verbs of rank 0.
class Job {
 public:
  explicit Job(const Options& options) {
    for (int rank = 0; rank < kRanks; rank++) {
      Endpoint::Limits limits;
      limits.arenaBytes = 1 << 20;
      endpoints_.push_back(
          std::make_unique<Endpoint>(limits, sim::plainReduction()));
      for (int context = 0; context < kContexts; context++) {
        Session::Setup setup;
        setup.rank = rank;
        setup.size = kRanks;
        setup.epoch = OneRank::kEpoch + context;
        setup.slotBytesMax = 1024;
        setup.keys.resize(kRanks);
        setup.windowBytes.assign(kRanks, 1 << 20);
        setup.options = options;
        Call& call = calls_[rank][context];
        call.session = endpoints_[rank]->open(setup);
        call.bucket.resize(kElements);
      }
    }
  }

  ~Job() {
    for (int rank = 0; rank < kRanks; rank++) {
      for (Call& call : calls_[rank]) {
        verb(rank, [&] { call.session->sendLeave(now_); });
        verb(rank, [&] { endpoints_[rank]->close(call.session); });
      }
    }
  }

  // All callers make that many sums, unless their session has failed.
  void run() {
    for (int op = 0; op < kOps; op++) {
      for (int rank = 0; rank < kRanks; rank++) {
        for (Call& call : calls_[rank]) {
          begin(rank, &call);
        }
      }
      const TimePoint deadline = now_ + kTimeout + 2 * kStep;
      while (anyInside() && now_ <= deadline) {
        step();
      }
      EXPECT_FALSE(anyInside()) << "a call outlives its timeout";
    }
  }

  bool hasFailed(int context) const {
    return !calls_[0][context].session->failure().empty();
  }
  // The number of complete sums.
  int sums(int rank, int context) const { return calls_[rank][context].sums; }
  const std::string& failure(int rank, int context) const {
    return calls_[rank][context].failure;
  }
  // Whether no bucket was written after its call.
  bool bucketsAreTheCallers() const {
    const auto isTheCallers = [](const Call& call) {
      return std::count(call.bucket.begin(), call.bucket.end(), kTaken) ==
             static_cast<std::ptrdiff_t>(kElements);
    };
    return std::all_of(calls_.begin(), calls_.end(), [&](const auto& calls) {
      return std::all_of(calls.begin(), calls.end(), isTheCallers);
    });
  }

 private:
  struct Call {
    Session* session = nullptr;
    std::vector<float> bucket;
    OpId id;
    bool inside = false;
    int sums = 0;         // complete
    std::string failure;  // the first
  };

  // Allocations may fail in rank 0's verbs.
  template <typename Verb>
  static auto verb(int rank, const Verb& verb) -> decltype(verb()) {
    if (rank != 0) {
      return verb();
    }
    const FailingHeap::Scope scope;
    return verb();
  }

  void begin(int rank, Call* call) {
    if (!call->session->failure().empty()) {
      verb(rank, [&] { call->session->announceFailure(now_); });
      note(call, call->session->failure());
      std::fill(call->bucket.begin(), call->bucket.end(), kTaken);
      return;
    }
    std::fill(call->bucket.begin(), call->bucket.end(), 1 + rank);
    OpShape shape = floats(kElements);
    shape.fingerprint = call->session->options().fingerprint();
    call->id = verb(rank, [&] {
      return call->session->enter(now_, 1, shape, bytesOf(call->bucket));
    });
    call->inside = true;
  }

  static void note(Call* call, const std::string& failure) {
    call->failure = call->failure.empty() ? failure : call->failure;
  }

  void endIfFinished(int rank, Call* call) {
    if (!call->inside || !call->session->finished(call->id)) {
      return;
    }
    std::string failure = call->session->failure(call->id);
    (void)verb(rank, [&] { return call->session->leave(now_, call->id); });
    if (failure.empty() && call->session->broken()) {
      failure = call->session->failure();
    }
    call->inside = false;
    if (failure.empty()) {
      call->sums +=
          std::all_of(call->bucket.begin(), call->bucket.end(), [](float sum) {
            return std::abs(sum - 3) < 0.001f;  // transforms round
          });
    }
    note(call, failure);
    std::fill(call->bucket.begin(), call->bucket.end(), kTaken);
  }

  bool anyInside() const {
    return std::any_of(calls_.begin(), calls_.end(), [](const auto& calls) {
      return std::any_of(calls.begin(), calls.end(), [](const Call& call) {
        return call.inside;
      });
    });
  }

  // Everything that both ranks send arrives at once.
  void step() {
    for (int rank = 0; rank < kRanks; rank++) {
      OutPacket out;
      while (verb(rank, [&] {
               return endpoints_[rank]->packetOut(now_, &out);
             }) != nullptr) {
        std::vector<std::byte> datagram(out.head, out.head + out.headBytes);
        if (out.payloadBytes > 0) {
          datagram.insert(
              datagram.end(), out.payload, out.payload + out.payloadBytes);
        }
        verb(1 - rank, [&] {
          endpoints_[1 - rank]->packetIn(
              now_, datagram.data(), datagram.size());
        });
      }
    }
    TimePoint next = kNever;
    for (int rank = 0; rank < kRanks; rank++) {
      next = std::min(next, endpoints_[rank]->nextDeadline());
    }
    now_ = std::max(now_ + kStep, std::min(next, now_ + kTimeout));
    for (int rank = 0; rank < kRanks; rank++) {
      verb(rank, [&] { endpoints_[rank]->deadlinePassed(now_); });
      for (Call& call : calls_[rank]) {
        endIfFinished(rank, &call);
      }
    }
  }

  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::array<std::array<Call, kContexts>, kRanks> calls_;  // by rank
  TimePoint now_{std::chrono::seconds(1)};
};

class FailingAllocation : public testing::TestWithParam<Variant> {
 protected:
  static Options options() {
    Options options = GetParam().options;
    options.timeout = kTimeout;
    return options;
  }

  // Runs jobs, each with one more successful allocation than the last, until
  // none fails. `check` sees each job with a failed allocation.
  template <typename Check>
  static void forEach(bool allAfter, const Check& check) {
    bool failed = true;
    for (uint64_t before = 0; failed; before++) {
      SCOPED_TRACE("allocations before: " + std::to_string(before));
      const size_t heldBefore = FailingHeap::heldBytes();
      {
        Job job(options());
        FailingHeap::failAfter(before, allAfter);
        job.run();
        EXPECT_TRUE(job.bucketsAreTheCallers());
        failed = FailingHeap::failures() > 0;
        if (failed) {
          check(job);
        } else {
          ASSERT_GT(before, 100u) << "next to nothing was tried";
          for (int rank = 0; rank < kRanks; rank++) {
            for (int context = 0; context < kContexts; context++) {
              EXPECT_EQ(job.sums(rank, context), kOps);
            }
          }
        }
      }
      failed = FailingHeap::failures() > 0;  // one of a close
      FailingHeap::heal();
      if (testing::Test::HasFailure()) {  // allocates memory, too
        return;
      }
      EXPECT_EQ(FailingHeap::heldBytes(), heldBefore) << "something leaks";
    }
  }
};

TEST_P(FailingAllocation, OneEndsOneContextAndNoOther) {
  forEach(false, [](const Job& job) {
    EXPECT_FALSE(job.hasFailed(0) && job.hasFailed(1));
    for (int context = 0; context < kContexts; context++) {
      for (int rank = 0; rank < kRanks; rank++) {
        const std::string& failure = job.failure(rank, context);
        if (!failure.empty()) {
          EXPECT_TRUE(job.hasFailed(context));
          EXPECT_NE(failure.find("rank 0"), std::string::npos) << failure;
        } else if (options().warmupOps > 0) {
          EXPECT_EQ(job.sums(rank, context), kOps);
        }
      }
    }
  });
}

TEST_P(FailingAllocation, AllThatFollowLeaveNothingBehind) {
  forEach(true, [](const Job& job) {
    for (int context = 0; context < kContexts; context++) {
      const std::string& failure = job.failure(0, context);
      EXPECT_TRUE(failure.empty() ||
                  failure.find("rank 0") != std::string::npos)
          << failure;
    }
    EXPECT_LT(FailingHeap::failures(), 1000u) << "each step allocates again";
  });
}

Options bounded() {
  return OneRank::boundedBy(std::chrono::milliseconds(10));
}

std::vector<Variant> variants() {
  std::vector<Variant> all{{"Exact", Options()}, {"Bounded", bounded()}};
  all.push_back({"Sealed", bounded()});
  all.back().options.auth = AuthMode::kAead;
  all.push_back({"RankOrder", Options()});
  all.back().options.order = SumOrder::kRank;
  all.push_back({"Transformed", bounded()});
  all.back().options.hadamard = Hadamard::kAlways;
  all.push_back({"Multicast", bounded()});
  all.back().options.multicast = true;
  all.push_back({"Unrepaired", bounded()});
  all.back().options.repair = RepairPolicy::kNone;
  return all;
}

INSTANTIATE_TEST_SUITE_P(Options,
                         FailingAllocation,
                         testing::ValuesIn(variants()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace ubt
