// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace gloo {
namespace transport {
namespace ubt {

// The name that takes the fewest edits to get from what was typed; an empty
// string if there are no names.
std::string nearest(const std::string& typed,
                    const std::vector<std::string>& names);

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
