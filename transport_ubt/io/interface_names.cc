// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/interface_names.h"

#include <net/if.h>

namespace ubt {

std::vector<std::string> interfaceNames() {
  std::vector<std::string> names;
  struct if_nameindex* const list = if_nameindex();
  for (auto* at = list; at != nullptr && at->if_index != 0; at++) {
    names.emplace_back(at->if_name);
  }
  if (list != nullptr) {
    if_freenameindex(list);
  }
  return names;
}

}  // namespace ubt
