// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <string>

namespace ubt {

// The process that made something which has threads, or sockets with a
// conversation on them. A child by fork() gets a copy, with the same sockets
// and without the threads: it must neither use the copy nor destroy it.
class HomeProcess {
 public:
  bool isThis() const { return getpid() == pid_; }
  std::string str() const { return "process " + std::to_string(pid_); }

 private:
  const pid_t pid_ = getpid();
};

}  // namespace ubt
