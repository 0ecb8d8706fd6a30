// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/warn_once.h"

#include <iostream>
#include <mutex>
#include <set>

namespace gloo {
namespace transport {
namespace ubt {

void warnOnce(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::lock_guard<std::mutex> lock(mutex);
  if (said.insert(text).second) {
    std::cerr << "warning: " << text << "\n";
  }
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
