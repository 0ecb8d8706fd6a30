// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>

#include <stdexcept>
#include <string>

#include "transport_ubt/bounded/greeting.h"

namespace ubt {

inline sockaddr_storage storageOf(const std::string& ip) {
  sockaddr_storage storage{};
  auto* const four = reinterpret_cast<sockaddr_in*>(&storage);
  auto* const six = reinterpret_cast<sockaddr_in6*>(&storage);
  if (inet_pton(AF_INET, ip.c_str(), &four->sin_addr) == 1) {
    storage.ss_family = AF_INET;
  } else if (inet_pton(AF_INET6, ip.c_str(), &six->sin6_addr) == 1) {
    storage.ss_family = AF_INET6;
  } else {
    throw std::invalid_argument("no IP address: " + ip);
  }
  return storage;
}

// No two ranks have the same value in any field that may differ.
inline Greeting greetingOf(int rank,
                           const std::string& secret,
                           const std::string& ip = "127.0.0.1") {
  Greeting greeting;
  greeting.hello.port = 1000 + rank;
  greeting.hello.slotBytesMax = 1440 + 64 * rank;
  greeting.hello.windowBytes = 100000 + rank;
  greeting.hello.minBytes = uint64_t{1} << 40;
  greeting.hello.publicKey.fill(rank + 1);
  greeting.address = SocketAddress(storageOf(ip), greeting.hello.port);
  greeting.prove(secret, rank);
  return greeting;
}

}  // namespace ubt
