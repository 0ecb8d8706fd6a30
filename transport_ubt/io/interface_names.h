// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ubt {

// The names of this host's network interfaces, in the kernel's order.
std::vector<std::string> interfaceNames();

}  // namespace ubt
