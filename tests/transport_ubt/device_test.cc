// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/device.h"

#include <gloo/common/error.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <thread>

namespace gloo {
namespace transport {
namespace ubt {
namespace {

// Gives this thread its own network with only loopback, with that MTU. Returns
// false without permission.
bool loopbackOnly(int mtu) {
  if (unshare(CLONE_NEWNET) != 0) {
    return false;
  }
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  request.ifr_mtu = mtu;
  const bool set = ioctl(fd, SIOCSIFMTU, &request) == 0;
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const bool up = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  close(fd);
  return set && up;
}

// The warning of creating a device if loopback has that MTU; empty if the MTU
// cannot be set.
std::optional<std::string> createdAt(int mtu) {
  std::optional<std::string> said;
  std::thread([&] {
    if (!loopbackOnly(mtu)) {
      return;
    }
    try {
      said = CreateDevice("127.0.0.1")->str();
    } catch (const ::gloo::Exception& error) {
      said = error.what();
    }
  }).join();
  return said;
}

TEST(Device, AnInterfaceOfTooSmallAnMtuIsNamedWithTheRemedy) {
  const auto said = createdAt(300);
  if (!said) {
    GTEST_SKIP() << "needs the right to make a network namespace";
  }
  EXPECT_NE(said->find("an MTU of 300 bytes is too small"), std::string::npos)
      << *said;
  EXPECT_NE(said->find("raise it to 576"), std::string::npos) << *said;
}

TEST(Device, TakesItsSlotsFromTheInterfacesMtu) {
  const auto said = createdAt(1500);
  if (!said) {
    GTEST_SKIP() << "needs the right to make a network namespace";
  }
  EXPECT_NE(said->find("slot=1440"), std::string::npos) << *said;
}

}  // namespace
}  // namespace ubt
}  // namespace transport
}  // namespace gloo
