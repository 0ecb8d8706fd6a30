// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ubt {

// How ranks form the groups of a hierarchical transpose. GLOO_UBT_GROUPS.
struct Grouping {
  enum class By : uint32_t {
    kSize,   // equal groups; the rank count gives their number
    kHost,   // one group for each host
    kCount,  // `count` equal groups
  };
  By by = By::kSize;
  uint32_t count = 0;

  bool operator==(const Grouping& other) const {
    return by == other.by && (by != By::kCount || count == other.count);
  }
  bool operator!=(const Grouping& other) const { return !(*this == other); }

  // The variable's text.
  std::string str() const {
    switch (by) {
      case By::kSize:
        return "auto";
      case By::kHost:
        return "host";
      case By::kCount:
        break;
    }
    return std::to_string(count);
  }
};

}  // namespace ubt
