// SPDX-License-Identifier: Apache-2.0
#include "tests/support/two_hosts.h"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace test {

TwoHosts::TwoHosts() {
  connect({&here_, &there_, "here", "there", kMtuBytes});
  here_.run("ip addr add 10.0.0.1/24 dev here");
  there_.run("ip addr add 10.0.0.2/24 dev there");
  there_.run("ip addr add 10.0.0.3/24 dev there");
  there_.run("ip link set lo up");
}

ubt::SocketAddress TwoHosts::addressOf(int rank) {
  sockaddr_storage storage{};
  auto* const in = reinterpret_cast<sockaddr_in*>(&storage);
  in->sin_family = AF_INET;
  in->sin_addr.s_addr = htonl(0x0a000001 + rank);
  return ubt::SocketAddress(storage, 0);
}

}  // namespace test
