// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

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

// Keeps an object that a forked child must not destroy, because its destructor
// would join threads that do not exist there. Gloo's tcp would wait for one,
// and remove the parent's sockets from the epoll set that both processes share.
inline void keepForEver(std::shared_ptr<void> object) {
  static std::mutex mutex;
  static auto* const kKept = new std::vector<std::shared_ptr<void>>();
  const std::lock_guard<std::mutex> lock(mutex);
  kKept->push_back(std::move(object));
}

}  // namespace ubt
