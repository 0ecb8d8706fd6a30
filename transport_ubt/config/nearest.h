// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ubt {

// The name with the fewest edits from `typed`; empty if there are no names.
std::string nearest(const std::string& typed,
                    const std::vector<std::string>& names);

}  // namespace ubt
