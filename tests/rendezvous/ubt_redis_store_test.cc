// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/ubt_redis_store.h"

#include <gloo/allreduce_ring_chunked.h>
#include <gloo/common/error.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <functional>
#include <future>
#include <mutex>

#include "tests/rendezvous/failure.h"
#include "tests/support/redis_server.h"
#include "transport_ubt/gloo_compat.h"

namespace gloo {
namespace rendezvous {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

std::vector<char> bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

class UbtRedisStoreTest : public ::testing::Test {
 protected:
  UbtRedisStore::Options options(int rank, int size) {
    UbtRedisStore::Options options;
    options.url = server_.url();
    options.prefix = "job";
    options.rank = rank;
    options.size = size;
    options.timeout = milliseconds(10000);
    return options;
  }

  // Runs the ranks, each with a store, as threads.
  void run(int size, const std::function<void(int, UbtRedisStore&)>& body) {
    std::vector<std::future<void>> ranks;
    ranks.reserve(size);
    for (int rank = 0; rank < size; rank++) {
      ranks.push_back(std::async(std::launch::async, [=] {
        UbtRedisStore store(options(rank, size));
        body(rank, store);
      }));
    }
    for (auto& rank : ranks) {
      rank.get();
    }
  }

  test::RedisServer server_;
};

TEST_F(UbtRedisStoreTest, WaitersAreWokenByAKeySetLater) {
  run(4, [](int rank, UbtRedisStore& store) {
    if (rank == 3) {
      // All others may wait by now; the last key comes from the last waiter.
      store.set("a", bytes("A"));
      store.wait({"b"});
    } else if (rank == 2) {
      store.wait({"a"});
      store.set("b", bytes("B"));
    } else {
      store.wait({"b", "a"}, milliseconds(10000));
    }
    EXPECT_EQ(store.get("a"), bytes("A"));
    EXPECT_EQ(store.get("b"), bytes("B"));
  });
}

TEST_F(UbtRedisStoreTest, BinaryAndEmptyKeysAndValues) {
  run(2, [](int rank, UbtRedisStore& store) {
    const std::string key("\0\r\n%b", 5);
    const std::vector<char> value{'\0', '\n', '\xff'};
    if (rank == 0) {
      store.set(key, value);
      store.set("", {});
    }
    EXPECT_EQ(store.get(key), value);
    EXPECT_TRUE(store.get("").empty());
  });
}

TEST_F(UbtRedisStoreTest, AKeyIsSetOnceAndTheFirstValueStands) {
  run(2, [](int rank, UbtRedisStore& store) {
    if (rank == 0) {
      store.set("k", bytes("first"));
      store.set("ready", {});
    } else {
      store.wait({"ready"});
      EXPECT_THAT(failure([&] { store.set("k", bytes("second")); }),
                  HasSubstr("already set"));
    }
    EXPECT_EQ(store.get("k"), bytes("first"));
  });
}

TEST_F(UbtRedisStoreTest, OfTwoSettersExactlyOneWins) {
  std::atomic<int> winners{0};
  run(8, [&](int rank, UbtRedisStore& store) {
    try {
      store.set("k", bytes(std::to_string(rank)));
      winners++;
      EXPECT_EQ(store.get("k"), bytes(std::to_string(rank)));
    } catch (const IoException&) {
    }
  });
  EXPECT_EQ(winners, 1);
}

TEST_F(UbtRedisStoreTest, KeysOfAnEarlierRunAreNotSeen) {
  for (int i = 0; i < 3; i++) {
    run(2, [i](int rank, UbtRedisStore& store) {
      if (rank == 0) {
        store.set("k", bytes(std::to_string(i)));
      }
      EXPECT_EQ(store.get("k"), bytes(std::to_string(i)));
    });
  }
}

TEST_F(UbtRedisStoreTest, WaitTimesOutAndNamesTheKey) {
  UbtRedisStore store(options(0, 1));
  const auto start = Clock::now();
  EXPECT_THAT(failure([&] { store.wait({"never"}, milliseconds(200)); }),
              HasSubstr("'never'"));
  EXPECT_LT(Clock::now() - start, milliseconds(2000));
  // The store is still usable afterwards.
  store.set("k", bytes("v"));
  EXPECT_EQ(store.get("k"), bytes("v"));
}

TEST_F(UbtRedisStoreTest, StoppedOrKilledRedisDoesNotHang) {
  UbtRedisStore stopped(options(0, 1));
  auto other = options(0, 1);
  other.prefix = "other";
  UbtRedisStore killed(other);
  server_.stop();
  const auto start = Clock::now();
  EXPECT_THAT(failure([&] { stopped.wait({"k"}, milliseconds(200)); }),
              HasSubstr("did not answer"));
  server_.resume();
  server_.kill();
  EXPECT_THAT(failure([&] { killed.wait({"k"}); }),
              HasSubstr("Lost the connection"));
  EXPECT_LT(Clock::now() - start, milliseconds(3000));
}

TEST_F(UbtRedisStoreTest, EndlessWaitEndsWithRedis) {
  UbtRedisStore store(options(0, 1));
  auto waiter = std::async(std::launch::async, [&] {
    return failure([&] { store.wait({"never"}, kNoTimeout); });
  });
  EXPECT_EQ(waiter.wait_for(milliseconds(300)), std::future_status::timeout);
  server_.kill();
  EXPECT_THAT(waiter.get(), HasSubstr("Lost the connection"));
}

TEST_F(UbtRedisStoreTest, EveryKeyExpires) {
  run(2, [](int rank, UbtRedisStore& store) {
    store.set(std::to_string(rank), {});
  });
  RedisConnection connection(RedisUrl::parse(server_.url()),
                             Clock::now() + milliseconds(5000));
  const auto command = [&](const RedisCommand& words) {
    return connection.command(words, Clock::now() + milliseconds(5000));
  };
  const auto keys = command({"KEYS", "*"});
  EXPECT_EQ(keys.elements.size(), 2u);
  for (const auto& key : keys.elements) {
    EXPECT_GT(command({"TTL", key.text}).integer, 0) << key.text;
  }
}

TEST_F(UbtRedisStoreTest, PasswordFromTheEnvironment) {
  test::RedisServer server("secret");
  auto job = options(0, 1);
  job.url = server.tcpUrl();
  EXPECT_THAT(failure([&] { UbtRedisStore store(job); }),
              HasSubstr("needs a password"));
  setenv("GLOO_UBT_REDIS_PASSWORD", "secret", 1);
  EXPECT_NO_THROW(UbtRedisStore store(job));
  unsetenv("GLOO_UBT_REDIS_PASSWORD");
}

TEST_F(UbtRedisStoreTest, TimeoutMustBePositive) {
  auto job = options(0, 1);
  job.timeout = milliseconds(0);
  EXPECT_THROW(UbtRedisStore store(job), InvalidOperationException);
}

// Like the code of a Gloo user: nothing here knows the store's type. A context
// lives until all ranks are done, because Gloo fails a rank if a peer closes
// early.
class PlainGloo {
 public:
  float allreduce(Store& store, int rank, int size) {
    transport::tcp::attr attr;
    attr.hostname = "127.0.0.1";
    attr.iface = "lo";
    auto device = transport::tcp::CreateDevice(attr);
    auto context = std::make_shared<Context>(rank, size);
    context->connectFullMesh(compat::borrowed(store), device);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      contexts_.push_back(context);
    }
    std::vector<float> values(1000, static_cast<float>(rank + 1));
    std::vector<float*> pointers{values.data()};
    AllreduceRingChunked<float> algorithm(context, pointers, 1000);
    algorithm.run();
    return values.back();
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Context>> contexts_;
};

TEST_F(UbtRedisStoreTest, PlainGlooTwiceWithTheSamePrefix) {
  for (int i = 0; i < 2; i++) {
    PlainGloo gloo;
    run(4, [&](int rank, UbtRedisStore& store) {
      EXPECT_EQ(gloo.allreduce(store, rank, 4), 1 + 2 + 3 + 4);
    });
  }
}

TEST_F(UbtRedisStoreTest, SeveralContextsThroughPrefixStores) {
  PlainGloo gloo;
  run(2, [&](int rank, UbtRedisStore& store) {
    for (const auto* name : {"first", "second"}) {
      PrefixStore prefixed(name, compat::borrowed(store));
      EXPECT_EQ(gloo.allreduce(prefixed, rank, 2), 1 + 2);
    }
  });
}

}  // namespace
}  // namespace rendezvous
}  // namespace gloo
