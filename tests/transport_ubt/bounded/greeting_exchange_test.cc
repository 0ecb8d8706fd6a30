// SPDX-License-Identifier: Apache-2.0
//
// Ranks are threads, their mesh Gloo's own over TCP.
#include "transport_ubt/bounded/greeting_exchange.h"

#include <gloo/allreduce.h>
#include <gloo/common/error.h>
#include <gloo/math.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <future>

#include "tests/conformance/local_ranks.h"
#include "tests/transport_ubt/bounded/greetings.h"
#include "transport_ubt/bounded/mesh_slots.h"

namespace ubt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ContextPtr = gloo::testing::LocalRanks::ContextPtr;
using Waits = GreetingExchange::Waits;

constexpr Waits kPatient{std::chrono::seconds(20)};
// For a rank that waits without success, while others have enough time to
// answer.
constexpr Waits kShort{std::chrono::seconds(2)};

// An event that happens once. Other threads can wait for it.
class Event {
 public:
  void happen() { promise_.set_value(); }
  void await() const {
    if (future_.wait_for(kPatient.timeout) != std::future_status::ready) {
      throw std::runtime_error("it does not happen");
    }
  }

 private:
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future();
};

class GreetingExchangeTest : public ::testing::Test {
 protected:
  // Gloo writes to sockets that the peer has closed. PyTorch's processes ignore
  // the signal, too.
  static void SetUpTestSuite() { signal(SIGPIPE, SIG_IGN); }

  void connect(int ranks) {
    mesh_ = std::make_unique<gloo::testing::LocalRanks>(
        gloo::testing::tcpTransport(), ranks);
    exchanges_.resize(ranks);
  }

  // Every rank runs its own function of `bodies`, and none fails.
  void run(const std::vector<std::function<void(const ContextPtr&)>>& bodies) {
    EXPECT_EQ(mesh_->run([&](const ContextPtr& context) {
      bodies[context->rank](context);
    }),
              "");
  }

  std::vector<Greeting> exchange(
      const ContextPtr& context,
      const Waits& waits = kPatient,
      const std::string& secret = "secret",
      const GreetingExchange::Warn& warn = [](const std::string&) {}) {
    return exchangeOf(
        context, greetingOf(context->rank, secret), waits, secret, warn);
  }

  // The rank's greeting is `own`.
  std::vector<Greeting> exchangeOf(const ContextPtr& context,
                                   const Greeting& own,
                                   const Waits& waits,
                                   const std::string& secret,
                                   const GreetingExchange::Warn& warn) {
    const Mesh mesh{
        context->rank, context->size, [context](void* ptr, size_t bytes) {
          return context->createUnboundBuffer(ptr, bytes);
        }};
    auto& exchange = exchanges_[context->rank];
    exchange = std::make_unique<GreetingExchange>(mesh, own, secret);
    return exchange->run(waits, warn);
  }

  std::string failure(const ContextPtr& context,
                      const Waits& waits = kPatient,
                      const std::string& secret = "secret") {
    try {
      exchange(context, waits, secret);
    } catch (const gloo::IoException& error) {
      return error.what();
    }
    return "no failure";
  }

  // Runs plain Gloo over every connection.
  void expectThatTheMeshWorks() {
    EXPECT_EQ(mesh_->run([](const ContextPtr& context) {
      std::vector<int> ranks{1, context->rank};
      gloo::AllreduceOptions options(context);
      options.setOutput(ranks.data(), ranks.size());
      options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
      void (*const add)(void*, const void*, const void*, size_t) =
          &gloo::sum<int>;
      options.setReduceFunction(add);
      gloo::allreduce(options);
      const int size = context->size;
      EXPECT_EQ(ranks, (std::vector<int>{size, size * (size - 1) / 2}));
    }),
              "");
  }

  std::unique_ptr<gloo::testing::LocalRanks> mesh_;
  std::vector<std::unique_ptr<GreetingExchange>> exchanges_;
};

TEST_F(GreetingExchangeTest, EveryRankLearnsAllGreetings) {
  for (int size = 2; size <= 5; size++) {
    connect(size);
    EXPECT_EQ(mesh_->run([&](const ContextPtr& context) {
      const std::vector<Greeting> all = exchange(context);
      ASSERT_EQ(all.size(), static_cast<size_t>(size));
      for (int rank = 0; rank < size; rank++) {
        EXPECT_EQ(all[rank].encode(), greetingOf(rank, "secret").encode());
      }
    }),
              "");
    expectThatTheMeshWorks();
    exchanges_.clear();
  }
}

TEST_F(GreetingExchangeTest, NamesTheSilentRanksAndNoOthers) {
  connect(4);
  const auto waitsInVain = [this](const ContextPtr& context) {
    EXPECT_THAT(failure(context, kShort),
                StartsWith("bounded allreduce: rank 1 has not answered: "));
  };
  run({waitsInVain, [](const ContextPtr&) {}, waitsInVain, waitsInVain});
  expectThatTheMeshWorks();
}

TEST_F(GreetingExchangeTest, ACallThatTimedOutMayWaitAgain) {
  connect(2);
  Event tried;
  run({[&](const ContextPtr& context) {
         EXPECT_THAT(failure(context, {std::chrono::milliseconds(10)}),
                     HasSubstr("waited 10 ms"));
         GreetingExchange& known = *exchanges_[0];
         const auto again = [&known](const Waits& waits) {
           return known.run(waits, [](const std::string&) {});
         };
         EXPECT_THROW(again({std::chrono::milliseconds(10)}),
                      GreetingExchange::TimedOut);
         // Several calls may wait, too.
         std::vector<std::future<std::vector<Greeting>>> waiting;
         waiting.reserve(3);
         for (int i = 0; i < 3; i++) {
           waiting.push_back(
               std::async(std::launch::async, again, std::cref(kPatient)));
         }
         tried.happen();
         for (auto& all : waiting) {
           EXPECT_EQ(all.get()[1].encode(), greetingOf(1, "secret").encode());
         }
       },
       [&](const ContextPtr& context) {
         tried.await();
         exchange(context);
       }});
  expectThatTheMeshWorks();
}

TEST_F(GreetingExchangeTest, ARankThatAnswersTooLateBlocksNoConnection) {
  connect(2);
  Event over;
  run({[&](const ContextPtr& context) {
         EXPECT_THAT(failure(context, {std::chrono::milliseconds(50)}),
                     HasSubstr("rank 1 has not answered"));
         over.happen();
       },
       [&](const ContextPtr& context) {
         over.await();
         exchange(context);
       }});
  expectThatTheMeshWorks();
}

TEST_F(GreetingExchangeTest, WarnsOfASilentRankOnce) {
  connect(2);
  Event warned;
  std::vector<std::string> warnings;
  const Waits waits{kPatient.timeout, std::chrono::milliseconds(1)};
  run({[&](const ContextPtr& context) {
         exchange(context, waits, "secret", [&](const std::string& warning) {
           warnings.push_back(warning);
           warned.happen();
         });
       },
       [&](const ContextPtr& context) {
         warned.await();
         exchange(context);
       }});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], StartsWith("rank 1 has not answered: "));
}

TEST_F(GreetingExchangeTest, DoesNotWarnRightBeforeItFails) {
  connect(2);
  const Waits waits{std::chrono::milliseconds(1), std::chrono::milliseconds(1)};
  run({[&](const ContextPtr& context) {
         EXPECT_THROW(exchange(context,
                               waits,
                               "secret",
                               [](const std::string& warning) {
                                 ADD_FAILURE() << warning;
                               }),
                      gloo::IoException);
       },
       [](const ContextPtr&) {}});
}

// Of any length, and reported while another rank is still silent.
TEST_F(GreetingExchangeTest, NamesARankOfAnotherVersion) {
  for (const size_t bytes : {size_t{1}, Greeting::kBytes, size_t{1000}}) {
    connect(3);
    Event over;
    std::vector<uint8_t> other(bytes, 'v');
    run({[&](const ContextPtr& context) {
           EXPECT_THAT(failure(context),
                       StartsWith("bounded allreduce: rank 2 has another "
                                  "version of the library"));
           over.happen();
         },
         [](const ContextPtr&) {},
         [&](const ContextPtr& context) {
           auto buffer = context->createUnboundBuffer(other.data(), bytes);
           buffer->send(0, MeshSlots::kGreeting);
           EXPECT_TRUE(buffer->waitSend(kPatient.timeout));
           over.await();
         }});
    expectThatTheMeshWorks();
    exchanges_.clear();
  }
}

// Gloo's connections may use another interface.
TEST_F(GreetingExchangeTest, NamesALoopbackAddressOfAnotherHost) {
  connect(2);
  std::string failures[2];
  EXPECT_EQ(mesh_->run([&](const ContextPtr& context) {
    const int rank = context->rank;
    Greeting own =
        greetingOf(rank, "secret", rank == 0 ? "10.0.0.1" : "127.0.1.1");
    own.hello.groups.host = rank;
    own.prove("secret", rank);
    try {
      exchangeOf(context, own, kPatient, "secret", [](const auto&) {});
    } catch (const gloo::IoException& error) {
      failures[rank] = error.what();
    }
  }),
            "");
  EXPECT_THAT(failures[0],
              AllOf(HasSubstr("rank 1 is on another host, and its address, "
                              "127.0.1.1:1001"),
                    HasSubstr("GLOO_SOCKET_IFNAME or --interface")));
  EXPECT_THAT(failures[1],
              HasSubstr("rank 0 is on another host, and this rank's address, "
                        "127.0.1.1:1001"));
}

TEST_F(GreetingExchangeTest, NamesARankWithAnotherSecret) {
  connect(3);
  const auto member = [this](const ContextPtr& context) {
    EXPECT_THAT(failure(context),
                StartsWith("bounded allreduce: rank 2 has another secret"));
  };
  run({member, member, [this](const ContextPtr& context) {
         EXPECT_THAT(failure(context, kPatient, "another"),
                     HasSubstr("has another secret"));
       }});
  expectThatTheMeshWorks();
}

TEST_F(GreetingExchangeTest, NamesARankAndItsFieldThatIsOutOfBounds) {
  connect(2);
  Event over;
  Greeting small = greetingOf(1, "secret");
  small.hello.slotBytesMax = 32;
  small.prove("secret", 1);
  std::vector<uint8_t> bytes = small.encode();
  run({[&](const ContextPtr& context) {
         EXPECT_THAT(
             failure(context),
             StartsWith("bounded allreduce: rank 1 sent a greeting that is out "
                        "of bounds: slot size in bytes 32 "));
         over.happen();
       },
       [&](const ContextPtr& context) {
         auto buffer = context->createUnboundBuffer(bytes.data(), bytes.size());
         buffer->send(0, MeshSlots::kGreeting);
         EXPECT_TRUE(buffer->waitSend(kPatient.timeout));
         over.await();
       }});
  expectThatTheMeshWorks();
}

TEST_F(GreetingExchangeTest, NamesARankThatDiesMeanwhile) {
  connect(4);
  Event waiting;
  const auto namesTheDead = [](const std::string& failure) {
    EXPECT_THAT(
        failure,
        AllOf(StartsWith("bounded allreduce: the connection to rank 2 is "),
              Not(HasSubstr("answered"))));
  };
  run({[&](const ContextPtr& context) {
         // Rank 1 is silent meanwhile.
         const Waits waits{kPatient.timeout, std::chrono::milliseconds(1)};
         try {
           exchange(context, waits, "secret", [&](const std::string&) {
             waiting.happen();
           });
           ADD_FAILURE() << "no failure";
         } catch (const gloo::IoException& error) {
           namesTheDead(error.what());
         }
       },
       [](const ContextPtr&) {},
       [&](const ContextPtr& context) {
         waiting.await();
         context->closeConnections();
       },
       [&](const ContextPtr& context) { namesTheDead(failure(context)); }});
}

TEST_F(GreetingExchangeTest, NamesARankThatDiedBefore) {
  connect(2);
  Event dead;
  run({[&](const ContextPtr& context) {
         dead.await();
         EXPECT_THAT(failure(context),
                     HasSubstr("the connection to rank 1 is closed"));
       },
       [&](const ContextPtr& context) {
         context->closeConnections();
         dead.happen();
       }});
}

TEST_F(GreetingExchangeTest, SaysSoIfTheMeshIsGone) {
  const Mesh mesh{
      0,
      2,
      [](void*, size_t) -> std::unique_ptr<gloo::transport::UnboundBuffer> {
        throw gloo::IoException("the context has been destroyed");
      }};
  EXPECT_THROW(GreetingExchange(mesh, greetingOf(0, ""), ""),
               gloo::IoException);
}

}  // namespace
}  // namespace ubt
