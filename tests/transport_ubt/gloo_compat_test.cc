// SPDX-License-Identifier: Apache-2.0
//
// Stubs with the signatures of Gloo of 2022 and of today's. Whether the real
// ones have them is checked by building against both.
#include "transport_ubt/gloo_compat.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

namespace gloo {
namespace compat {
namespace {

using rendezvous::Store;

class AStore : public Store {
 public:
  void set(const std::string&, const std::vector<char>&) override {}
  std::vector<char> get(const std::string&) override { return {}; }
  void wait(const std::vector<std::string>&) override {}
  void wait(const std::vector<std::string>&,
            const std::chrono::milliseconds&) override {}
};

struct Context2022 {
  void connectFullMesh(Store& store, int& /*device*/) { used = &store; }
  Store* used = nullptr;
};

struct ContextToday {
  void connectFullMesh(std::shared_ptr<Store> store, int& /*device*/) {
    used = std::move(store);
  }
  std::shared_ptr<Store> used;
};

struct PrefixStore2022 {
  PrefixStore2022(const std::string& /*prefix*/, Store& store) : used(&store) {}
  Store* used;
};

struct PrefixStoreToday {
  PrefixStoreToday(const std::string& /*prefix*/, std::shared_ptr<Store> store)
      : used(std::move(store)) {}
  std::shared_ptr<Store> used;
};

TEST(GlooCompat, BothTakeABorrowedStore) {
  AStore store;
  int device = 0;
  Context2022 old;
  old.connectFullMesh(borrowed(store), device);
  EXPECT_EQ(old.used, &store);
  ContextToday today;
  today.connectFullMesh(borrowed(store), device);
  EXPECT_EQ(today.used.get(), &store);
  EXPECT_EQ(PrefixStore2022("job", borrowed(store)).used, &store);
  EXPECT_EQ(PrefixStoreToday("job", borrowed(store)).used.get(), &store);
}

struct Pair2022 {};

struct PairToday {
  bool isConnected() const { return connected; }
  bool connected;
};

TEST(GlooCompat, APairIsConnectedAsGlooSays) {
  Pair2022 old;
  EXPECT_TRUE(isConnected(old));
  PairToday apart{false};
  EXPECT_FALSE(isConnected(apart));
  PairToday connected{true};
  EXPECT_TRUE(isConnected(connected));
}

struct Attr2022 {};

struct AttrToday {
  int ai_fd = -1;  // the name is Gloo's
};

TEST(GlooCompat, TheSocketOfALookUpIsClosed) {
  Attr2022 old;
  closeSocket(old);
  AttrToday none;
  closeSocket(none);
  EXPECT_EQ(none.ai_fd, -1);
  AttrToday open;
  open.ai_fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int was = open.ai_fd;
  ASSERT_GE(was, 0);
  closeSocket(open);
  EXPECT_EQ(open.ai_fd, -1);
  EXPECT_EQ(fcntl(was, F_GETFD), -1);
}

}  // namespace
}  // namespace compat
}  // namespace gloo
