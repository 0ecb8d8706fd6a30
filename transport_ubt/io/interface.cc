// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/interface.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>

namespace ubt {
namespace {

bool sameHost(const sockaddr* a, const SocketAddress& b) {
  if (a == nullptr || a->sa_family != b.family()) {
    return false;
  }
  sockaddr_storage storage{};
  std::memcpy(&storage, a, b.size());
  return SocketAddress(storage, 0).sameHost(b);
}

// All addresses of 127/8 are on loopback, but they are not listed.
bool isLoopback(const SocketAddress& address) {
  return address.family() == AF_INET &&
         (ntohl(reinterpret_cast<const sockaddr_in*>(address.data())
                    ->sin_addr.s_addr) >>
          24) == 127;
}

}  // namespace

std::string interfaceOf(const SocketAddress& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return "";
  }
  std::string name;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const bool loopback =
        isLoopback(address) && (entry->ifa_flags & IFF_LOOPBACK);
    if (loopback || sameHost(entry->ifa_addr, address)) {
      name = entry->ifa_name;
      break;
    }
  }
  freeifaddrs(list);
  return name;
}

SocketAddress reachedFrom(const SocketAddress& own, const SocketAddress& peer) {
  if (own.family() != AF_INET6 || peer.family() != AF_INET6) {
    return peer;
  }
  sockaddr_storage storage{};
  std::memcpy(&storage, peer.data(), peer.size());
  auto* const in = reinterpret_cast<sockaddr_in6*>(&storage);
  if (!IN6_IS_ADDR_LINKLOCAL(&in->sin6_addr)) {
    return peer;
  }
  // Several interfaces may have the address of `own`. Its number says which
  // one.
  in->sin6_scope_id =
      reinterpret_cast<const sockaddr_in6*>(own.data())->sin6_scope_id;
  if (in->sin6_scope_id == 0) {
    in->sin6_scope_id = if_nametoindex(interfaceOf(own).c_str());
  }
  return SocketAddress(storage, peer.port());
}

}  // namespace ubt
