// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gloo {
namespace transport {
namespace ubt {

// For what a forked child must not destroy: threads that are not there would be
// joined. Gloo's tcp would wait for one, and take the parent's sockets out of
// the epoll set that both processes share.
inline void keepForEver(std::shared_ptr<void> object) {
  static std::mutex mutex;
  static auto* const kKept = new std::vector<std::shared_ptr<void>>();
  const std::lock_guard<std::mutex> lock(mutex);
  kKept->push_back(std::move(object));
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
