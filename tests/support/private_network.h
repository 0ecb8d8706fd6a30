// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace test {

// A network namespace for one test. The kernel removes it, with its contents,
// once this object and every socket in it are gone. Use from one thread at a
// time.
class PrivateNetwork {
 public:
  // Whether this process may create one and has the `ip` command. If not, a
  // test that needs one skips itself and says so.
  static bool possible();

  // Throws std::runtime_error if it cannot be created (see possible()).
  PrivateNetwork();
  ~PrivateNetwork();
  PrivateNetwork(const PrivateNetwork&) = delete;
  PrivateNetwork& operator=(const PrivateNetwork&) = delete;

  // Runs `body` in a thread inside this network. A socket that it creates stays
  // inside. Throws the exceptions of `body`.
  void within(const std::function<void()>& body) const;

  // Runs a shell command inside this network, such as `ip link set lo up`. If
  // it fails, throws std::runtime_error with the command.
  void run(const std::string& command) const;

  // Drops the IPv4 packets that arrive from outside and match a rule of nft,
  // such as `ip saddr 10.0.0.1`. An unsegmented train is one packet.
  void drop(const std::string& match) const;

  // A path to the namespace, for the `ip` command of a child of this process.
  std::string path() const;

 private:
  int file_ = -1;
};

// A link between two networks. Each end has a name; both have the same MTU in
// bytes and are up.
struct Wire {
  const PrivateNetwork* one;
  const PrivateNetwork* other;
  std::string nameOfOne;
  std::string nameOfOther;
  int mtuBytes;
};
void connect(const Wire& wire);

}  // namespace test
