// SPDX-License-Identifier: Apache-2.0
//
// IPv6 addresses that are only meaningful together with an interface.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "tests/transport_ubt/io/two_ranks.h"
#include "transport_ubt/io/interface.h"

namespace ubt {
namespace {

SocketAddress ipv6(const char* text, uint32_t scope) {
  sockaddr_storage storage{};
  auto* const in = reinterpret_cast<sockaddr_in6*>(&storage);
  in->sin6_family = AF_INET6;
  in->sin6_scope_id = scope;
  EXPECT_EQ(inet_pton(AF_INET6, text, &in->sin6_addr), 1);
  return SocketAddress(storage, 1000);
}

uint32_t scopeOf(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr_in6*>(address.data())->sin6_scope_id;
}

SocketAddress withScope(const SocketAddress& address, uint32_t scope) {
  sockaddr_storage storage{};
  std::memcpy(&storage, address.data(), address.size());
  reinterpret_cast<sockaddr_in6*>(&storage)->sin6_scope_id = scope;
  return SocketAddress(storage, address.port());
}

// A link-local address of this host, with its interface.
std::optional<SocketAddress> ownLinkLocal() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return std::nullopt;
  }
  std::optional<SocketAddress> found;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET6) {
      continue;
    }
    sockaddr_storage storage{};
    std::memcpy(&storage, at->ifa_addr, sizeof(sockaddr_in6));
    const auto* const in = reinterpret_cast<const sockaddr_in6*>(&storage);
    if (IN6_IS_ADDR_LINKLOCAL(&in->sin6_addr) && (at->ifa_flags & IFF_UP)) {
      found = SocketAddress(storage, 0);
    }
  }
  freeifaddrs(list);
  return found;
}

TEST(LinkLocal, APeerIsReachedByTheOwnInterface) {
  // The peer's own number of its interface has no meaning here.
  for (const uint32_t scope : {0U, 77U}) {
    const SocketAddress peer = ipv6("fe80::1", scope);
    EXPECT_EQ(scopeOf(reachedFrom(ipv6("fe80::2", 5), peer)), 5U);
    EXPECT_EQ(scopeOf(reachedFrom(ipv6("::1", 0), peer)), if_nametoindex("lo"));
    EXPECT_EQ(reachedFrom(ipv6("fe80::2", 5), peer).str(), "[fe80::1]:1000");
  }
}

TEST(LinkLocal, OtherAddressesDoNotChange) {
  const SocketAddress own = ipv6("fe80::2", 5);
  EXPECT_EQ(scopeOf(reachedFrom(own, ipv6("2001:db8::1", 0))), 0U);
  EXPECT_EQ(scopeOf(reachedFrom(own, ipv6("ff15::1", 0))), 0U);
  sockaddr_storage storage{};
  storage.ss_family = AF_INET;
  const SocketAddress four(storage, 7);
  EXPECT_EQ(reachedFrom(own, four).str(), "0.0.0.0:7");
  EXPECT_EQ(reachedFrom(four, ipv6("fe80::1", 3)).str(), "[fe80::1]:1000");
}

// The traffic stays on this host, because both ranks have one address.
TEST(LinkLocal, TwoRanksMeet) {
  const auto own = ownLinkLocal();
  if (!own) {
    GTEST_SKIP() << "no interface of this host has a link-local address";
  }
  TwoRanks job(*own);
  for (int rank = 0; rank < TwoRanks::kRanks; rank++) {
    job.addresses()[rank] = withScope(job.addresses()[rank], rank);
  }
  const TwoRanks::Sessions sessions = job.open(1);
  std::vector<std::future<std::string>> calls;
  calls.reserve(TwoRanks::kRanks);
  for (int rank = 0; rank < TwoRanks::kRanks; rank++) {
    calls.push_back(std::async(std::launch::async, [&, rank] {
      std::vector<float> bucket(1000, 1.0F);
      std::string why = job.allreduce(rank, sessions, 1, &bucket);
      EXPECT_EQ(bucket[0], 2.0F);
      return why;
    }));
  }
  for (auto& call : calls) {
    EXPECT_EQ(call.get(), "");
  }
  job.close(sessions);
}

}  // namespace
}  // namespace ubt
