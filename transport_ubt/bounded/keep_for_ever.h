// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace ubt {

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
