// SPDX-License-Identifier: Apache-2.0
//
// How long callers wait until ranks have found each other. Ranks are threads,
// each with its own engine. Their mesh is Gloo's own over TCP.
#include <gloo/common/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

#include "gloo_ext/bounded_contexts.h"
#include "gloo_ext/local_address.h"
#include "tests/conformance/local_ranks.h"
#include "tests/support/environment_variable.h"

namespace gloo_ext {
namespace {

using ::testing::HasSubstr;
using ContextPtr = gloo::testing::LocalRanks::ContextPtr;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ubt::Engine;
using ubt::Settings;

constexpr milliseconds kLong = seconds(30);
constexpr milliseconds kShort{10};
constexpr size_t kElements = 1000;

class BoundedContextTest : public ::testing::Test {
 protected:
  BoundedContextTest() : mesh_(gloo::testing::tcpTransport(), 2) {
    for (int rank = 0; rank < 2; rank++) {
      engines_.push_back(std::make_shared<Engine>(localAddress(), Settings()));
      contexts_.push_back(nullptr);
    }
  }

  BoundedContext& contextOf(const ContextPtr& context) {
    auto& bounded = contexts_[context->rank];
    if (bounded == nullptr) {
      bounded = std::make_unique<BoundedContext>(
          engines_[context->rank],
          ubt::Mesh{
              context->rank, context->size, [context](void* ptr, size_t bytes) {
                return context->createUnboundBuffer(ptr, bytes);
              }});
    }
    return *bounded;
  }

  // The error of a call that may wait this long.
  std::string failure(BoundedContext* bounded,
                      milliseconds contextTimeout,
                      milliseconds callTimeout) {
    try {
      bounded->channel(policy_, contextTimeout, callTimeout);
    } catch (const gloo::IoException& error) {
      return error.what();
    }
    return "no failure";
  }

  void sum(BoundedContext* bounded) {
    std::vector<float> values(kElements, 1);
    bounded->channel(policy_, kLong, kLong)
        .allreduce(ubt::TagSpace::kOptions,
                   1,
                   ubt::ElementType::kFloat32,
                   values.data(),
                   values.size(),
                   kLong);
    EXPECT_EQ(values, std::vector<float>(kElements, 2));
  }

  const test::EnvironmentVariable interface_{"GLOO_SOCKET_IFNAME", "lo"};
  Policy policy_;
  gloo::testing::LocalRanks mesh_;
  std::vector<std::shared_ptr<Engine>> engines_;
  std::vector<std::unique_ptr<BoundedContext>> contexts_;
  std::promise<void> tried_;
};

// Rank 1 comes after rank 0 has given up. If rank 0 had waited for the
// context's timeout, its error would not name this timeout.
TEST_F(BoundedContextTest, TheShorterOfBothTimeoutsHolds) {
  EXPECT_EQ(mesh_.run([&](const ContextPtr& context) {
    BoundedContext& bounded = contextOf(context);
    if (context->rank == 0) {
      EXPECT_THAT(failure(&bounded, kLong, kShort),
                  ::testing::AllOf(HasSubstr("rank 1 has not answered"),
                                   HasSubstr("waited 10 ms")));
      tried_.set_value();
    } else {
      tried_.get_future().wait();
    }
    sum(&bounded);
  }),
            "");
}

TEST_F(BoundedContextTest, ItHoldsWhileAnotherCallWaitsForLonger) {
  EXPECT_EQ(mesh_.run([&](const ContextPtr& context) {
    BoundedContext& bounded = contextOf(context);
    if (context->rank == 1) {
      tried_.get_future().wait();
      sum(&bounded);
      return;
    }
    auto patient = std::async(std::launch::async, [&] { sum(&bounded); });
    for (int i = 0; i < 3; i++) {
      EXPECT_THAT(failure(&bounded, kLong, kShort), HasSubstr("waited 10 ms"));
    }
    tried_.set_value();
    patient.get();
  }),
            "");
}

// Afterwards the context is useless for every caller.
TEST_F(BoundedContextTest, TheContextsTimeoutIsForAllCalls) {
  EXPECT_EQ(mesh_.run([&](const ContextPtr& context) {
    if (context->rank == 1) {
      return;
    }
    BoundedContext& bounded = contextOf(context);
    for (const milliseconds timeout : {kShort, kLong}) {
      EXPECT_THAT(failure(&bounded, kShort, timeout),
                  HasSubstr("waited 10 ms"));
    }
  }),
            "");
}

TEST_F(BoundedContextTest, SoIsTheHandshakesOwn) {
  policy_.handshakeTimeout = kShort;
  EXPECT_EQ(mesh_.run([&](const ContextPtr& context) {
    if (context->rank == 0) {
      BoundedContext& bounded = contextOf(context);
      EXPECT_THAT(failure(&bounded, kLong, gloo::kNoTimeout),
                  HasSubstr("waited 10 ms"));
    }
  }),
            "");
}

}  // namespace
}  // namespace gloo_ext
