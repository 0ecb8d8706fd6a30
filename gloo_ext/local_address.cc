// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/local_address.h"

#include <gloo/common/error.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "transport_ubt/io/interface_names.h"

namespace gloo_ext {
namespace {

constexpr char kVariable[] = "GLOO_SOCKET_IFNAME";

socklen_t sizeOf(int family) {
  return family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

bool isInet(int family) {
  return family == AF_INET || family == AF_INET6;
}

sockaddr_storage addressOf(const std::string& interface) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    throw gloo::InvalidOperationException(
        std::string("the network interfaces cannot be listed: ") +
        std::strerror(errno));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr != nullptr && at->ifa_name == interface &&
        isInet(at->ifa_addr->sa_family)) {
      sockaddr_storage address{};
      std::memcpy(&address, at->ifa_addr, sizeOf(at->ifa_addr->sa_family));
      return address;
    }
  }
  std::string known;
  for (const std::string& name : ubt::interfaceNames()) {
    known += (known.empty() ? "" : ", ") + name;
  }
  throw gloo::InvalidOperationException(
      std::string(kVariable) + "=" + interface +
      ": no interface of that name has an address here; there are " + known);
}

bool isOfThisHost(const addrinfo& candidate) {
  const int fd = socket(candidate.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool bound =
      fd >= 0 && bind(fd, candidate.ai_addr, candidate.ai_addrlen) == 0;
  if (fd >= 0) {
    close(fd);
  }
  return bound;
}

std::optional<sockaddr_storage> addressOfHostName() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) {
    return std::nullopt;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(name, nullptr, &hints, &list) != 0) {
    return std::nullopt;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list,
                                                             freeaddrinfo);
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    if (isInet(at->ai_family) && isOfThisHost(*at)) {
      sockaddr_storage address{};
      std::memcpy(&address, at->ai_addr, at->ai_addrlen);
      return address;
    }
  }
  return std::nullopt;
}

}  // namespace

sockaddr_storage localAddress() {
  const char* const variable = std::getenv(kVariable);
  const std::string names = variable == nullptr ? "" : variable;
  if (!names.empty()) {
    return addressOf(names.substr(0, names.find(',')));
  }
  if (const auto own = addressOfHostName()) {
    return *own;
  }
  sockaddr_storage loopback{};
  auto* const in = reinterpret_cast<sockaddr_in*>(&loopback);
  in->sin_family = AF_INET;
  in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return loopback;
}

}  // namespace gloo_ext
