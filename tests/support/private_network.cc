// SPDX-License-Identifier: Apache-2.0
#include "tests/support/private_network.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <future>
#include <stdexcept>

namespace test {

bool PrivateNetwork::possible() {
  try {
    const PrivateNetwork network;
    network.run("ip link set lo up 2> /dev/null");
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

PrivateNetwork::PrivateNetwork() {
  file_ = std::async(std::launch::async, [] {
            return unshare(CLONE_NEWNET) == 0
                       ? open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
                       : -1;
          }).get();
  if (file_ < 0) {
    throw std::runtime_error("no network namespace is to be had");
  }
}

PrivateNetwork::~PrivateNetwork() {
  close(file_);
}

void PrivateNetwork::within(const std::function<void()>& body) const {
  std::async(std::launch::async, [&] {
    if (setns(file_, CLONE_NEWNET) != 0) {
      throw std::runtime_error("cannot enter a network namespace");
    }
    body();
  }).get();
}

void PrivateNetwork::run(const std::string& command) const {
  within([&] {
    if (system(command.c_str()) != 0) {
      throw std::runtime_error("failed: " + command);
    }
  });
}

std::string PrivateNetwork::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_);
}

void PrivateNetwork::drop(const std::string& match) const {
  run("nft 'add table ip hop; "
      "add chain ip hop in { type filter hook prerouting priority 0; }; "
      "add rule ip hop in " +
      match + " drop'");
}

void connect(const Wire& wire) {
  const std::string mtu = " mtu " + std::to_string(wire.mtuBytes);
  wire.one->run("ip link add " + wire.nameOfOne + mtu +
                " type veth peer name " + wire.nameOfOther + " netns " +
                wire.other->path() + mtu);
  wire.one->run("ip link set " + wire.nameOfOne + " up");
  wire.other->run("ip link set " + wire.nameOfOther + " up");
}

}  // namespace test
