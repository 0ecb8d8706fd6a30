// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace test {

// A network namespace that only this test uses. The kernel removes it, with all
// that is in it, once this object and every socket in it are gone. One thread
// at a time.
class PrivateNetwork {
 public:
  // Whether this process may make one, and has the `ip` command. A test that
  // needs one and may not skips itself, and says so.
  static bool possible();

  // Throws std::runtime_error if it cannot be made: see possible().
  PrivateNetwork();
  ~PrivateNetwork();
  PrivateNetwork(const PrivateNetwork&) = delete;
  PrivateNetwork& operator=(const PrivateNetwork&) = delete;

  // Runs `body` by a thread in here. A socket that it makes stays in here.
  // Throws what `body` throws.
  void within(const std::function<void()>& body) const;

  // Runs a shell command in here, as `ip link set lo up`. Throws
  // std::runtime_error with the command if it fails.
  void run(const std::string& command) const;

  // Leads to it, for the `ip` command of a child of this process.
  std::string path() const;

 private:
  int file_ = -1;
};

// A link of two ends, each with a name and an MTU in bytes, both up.
struct Wire {
  const PrivateNetwork* one;
  const PrivateNetwork* other;
  std::string nameOfOne;
  std::string nameOfOther;
  int mtuBytes;
};
void connect(const Wire& wire);

}  // namespace test
