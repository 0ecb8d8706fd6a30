// SPDX-License-Identifier: Apache-2.0
//
// A rank gives up an operation of plain Gloo while bounded allreduces run. Gloo
// closes all of its connections, although nobody has died.

#include <gloo/common/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <future>
#include <string>

#include "tests/integration/bounded_sums.h"

namespace gloo {
namespace testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kRanks = 3;
// How long a wait for data that never comes lasts: far less than the contexts'
// 20 s.
constexpr std::chrono::milliseconds kInVain{500};

// The error of a call with this tag that waits for a rank that never enters.
std::string failureOf(const LocalRanks::ContextPtr& context, uint32_t tag) {
  try {
    allreduces(context, tag, 1);
    return "";
  } catch (const IoException& error) {
    return error.what();
  }
}

// Waits for data that never comes, so that Gloo closes all connections.
void waitInVainFor(const LocalRanks::ContextPtr& context, int rank) {
  char byte = 0;
  auto buffer = context->createUnboundBuffer(&byte, sizeof(byte));
  buffer->recv(rank, 1);
  EXPECT_THROW(buffer->waitRecv(kInVain), IoException);
}

class GaveUpTest : public ::testing::Test {
 protected:
  // Gloo writes to sockets that the peer has closed.
  static void SetUpTestSuite() { signal(SIGPIPE, SIG_IGN); }

  GaveUpTest() : mesh_({"ubt", device}, kRanks) {
    EXPECT_EQ(mesh_.run([](const auto& context) { allreduces(context, 0, 1); }),
              "");
  }

  LocalRanks mesh_;
};

TEST_F(GaveUpTest, IsSaidOfARankThatWaitedForAnother) {
  std::string failures[kRanks];
  std::promise<void> over;
  EXPECT_EQ(mesh_.run([&](const auto& context) {
    if (context->rank == 0) {
      auto call =
          std::async(std::launch::async, [&] { return failureOf(context, 1); });
      waitInVainFor(context, 1);
      failures[0] = call.get();
      over.set_value();
    } else if (context->rank == 1) {
      failures[1] = failureOf(context, 1);
    } else {
      over.get_future().wait();  // rank 2 never enters
    }
  }),
            "");
  EXPECT_THAT(failures[0],
              HasSubstr("rank 0 (this one) has closed its connections"));
  EXPECT_THAT(failures[0], HasSubstr("rank 2 has not entered"));
  EXPECT_THAT(failures[1], HasSubstr("rank 0 has given up because of rank 2"));
  for (const std::string& failure : failures) {
    EXPECT_THAT(failure, Not(HasSubstr("has it died")));
  }
}

TEST_F(GaveUpTest, IsSaidOfARankThatWasInNoCall) {
  std::string failures[kRanks];
  EXPECT_EQ(mesh_.run([&](const auto& context) {
    if (context->rank == 0) {
      waitInVainFor(context, 1);
    } else {
      failures[context->rank] = failureOf(context, 1);
    }
  }),
            "");
  for (const int rank : {1, 2}) {
    EXPECT_THAT(failures[rank], HasSubstr("rank 0"));
    EXPECT_THAT(failures[rank], Not(HasSubstr("has it died")));
  }
}

}  // namespace
}  // namespace testing
}  // namespace gloo
