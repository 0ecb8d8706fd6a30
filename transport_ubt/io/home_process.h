// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <string>

namespace ubt {

// The process that created an object with threads or sockets. A child of fork()
// gets a copy, with the same sockets but without the threads. The child must
// not use or destroy that copy.
class HomeProcess {
 public:
  bool isThis() const { return getpid() == pid_; }
  std::string str() const { return "process " + std::to_string(pid_); }

 private:
  const pid_t pid_ = getpid();
};

}  // namespace ubt
