// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/multicast_address.h"

#include <netinet/in.h>

#include <cstring>

namespace ubt {
namespace {

constexpr uint32_t kLocalScope = 0xefff0000;  // 239.255.0.0
constexpr uint8_t kSiteLocalScope[] = {0xff, 0x15};

}  // namespace

SocketAddress multicastAddress(int family, uint64_t epoch, uint16_t port) {
  sockaddr_storage storage{};
  storage.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&storage)->sin_addr.s_addr =
        htonl(kLocalScope | static_cast<uint32_t>(epoch & 0xffff));
  } else {
    in6_addr& address = reinterpret_cast<sockaddr_in6*>(&storage)->sin6_addr;
    std::memcpy(&address, kSiteLocalScope, sizeof(kSiteLocalScope));
    for (size_t i = 0; i < sizeof(epoch); i++) {
      address.s6_addr[sizeof(address) - 1 - i] =
          static_cast<uint8_t>(epoch >> (8 * i));
    }
  }
  return SocketAddress(storage, port);
}

}  // namespace ubt
