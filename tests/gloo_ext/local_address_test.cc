// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/local_address.h"

#include <gloo/common/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <thread>

#include "tests/support/environment_variable.h"
#include "transport_ubt/io/socket_address.h"

namespace gloo_ext {
namespace {

using test::EnvironmentVariable;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kVariable[] = "GLOO_SOCKET_IFNAME";

std::string addressWith(const char* interfaces) {
  const EnvironmentVariable variable(kVariable, interfaces);
  return ubt::SocketAddress(localAddress(), 1).str();
}

// The address on a host of that name; empty if the name cannot be set. A name
// that is an IP address stands for itself, without a name server.
std::optional<std::string> addressOnHost(const std::string& name) {
  std::optional<std::string> address;
  std::thread([&] {
    if (unshare(CLONE_NEWUTS) == 0 &&
        sethostname(name.data(), name.size()) == 0) {
      address = addressWith(nullptr);
    }
  }).join();
  return address;
}

TEST(LocalAddress, IsTheNamedInterfaces) {
  EXPECT_EQ(addressWith("lo"), "127.0.0.1:1");
}

TEST(LocalAddress, OfSeveralInterfacesIsTheFirsts) {
  EXPECT_EQ(addressWith("lo,eth0"), "127.0.0.1:1");
  EXPECT_EQ(addressWith("lo,"), "127.0.0.1:1");
}

TEST(LocalAddress, NamesAnInterfaceThatIsNotThereAndThoseThatAre) {
  for (const char* interfaces : {"nosuch0", "nosuch0,lo"}) {
    try {
      addressWith(interfaces);
      ADD_FAILURE() << "taken: " << interfaces;
    } catch (const gloo::InvalidOperationException& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("GLOO_SOCKET_IFNAME=nosuch0: "),
                        HasSubstr("there are "),
                        HasSubstr("lo")));
    }
  }
}

// PyTorch also treats an empty variable as unset.
TEST(LocalAddress, AnEmptyVariableIsNone) {
  EXPECT_EQ(addressWith(""), addressWith(nullptr));
}

TEST(LocalAddress, IsOtherwiseTheAddressOfTheHostsName) {
  const auto address = addressOnHost("127.1.2.3");
  if (!address) {
    GTEST_SKIP() << "needs the right to give the host another name";
  }
  EXPECT_EQ(*address, "127.1.2.3:1");
}

TEST(LocalAddress, IsTheLoopbackIfTheNameStandsForAnotherHost) {
  const auto address = addressOnHost("192.0.2.1");
  if (!address) {
    GTEST_SKIP() << "needs the right to give the host another name";
  }
  EXPECT_EQ(*address, "127.0.0.1:1");
}

}  // namespace
}  // namespace gloo_ext
