// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ubt {

// In a program that links this, a thread sometimes yields the CPU or sleeps for
// a moment when it locks a mutex or waits for a condition. Rare orders of
// threads become frequent. Under ThreadSanitizer it does nothing, because
// ThreadSanitizer must see the locks itself.
struct RandomYields {
  // How often threads have done so. Zero under ThreadSanitizer.
  static unsigned long count();
};

}  // namespace ubt
