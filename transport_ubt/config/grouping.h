// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace gloo {
namespace transport {
namespace ubt {

// By what ranks form the groups of a hierarchical transpose. GLOO_UBT_GROUPS.
struct Grouping {
  enum class By : uint32_t {
    kSize,   // as many equal groups as suit the number of ranks
    kHost,   // ranks that run on one host
    kCount,  // so many equal groups, `count`
  };
  By by = By::kSize;
  uint32_t count = 0;

  bool operator==(const Grouping& other) const {
    return by == other.by && (by != By::kCount || count == other.count);
  }
  bool operator!=(const Grouping& other) const { return !(*this == other); }

  // As the variable has it.
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
}  // namespace transport
}  // namespace gloo
