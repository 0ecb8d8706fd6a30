// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gloo {
namespace transport {
namespace ubt {

// Says it on stderr, unless this process has said just that before. Any thread.
void warnOnce(const std::string& text);

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
