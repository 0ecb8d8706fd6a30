// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ubt {

// The slots of Gloo's connections that this library's own messages use. No
// collective uses them: theirs have a small prefix in the top byte.
struct MeshSlots {
  static constexpr uint64_t kPathsReady = 0xfa00000000000000;  // PathAgreement
  static constexpr uint64_t kPathsFound = 0xfa00000000000001;
  static constexpr uint64_t kGroups = 0xfb00000000000000;  // algorithms/
  static constexpr uint64_t kGreeting = 0xfc00000000000000;
  static constexpr uint64_t kFarewell = 0xfd00000000000000;
  static constexpr uint64_t kWatch = 0xfe00000000000000;  // and those after it
};

}  // namespace ubt
