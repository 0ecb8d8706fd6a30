// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ubt {

// A program that links this gives its CPU away, or sleeps for a moment, at
// random, wherever a thread locks a mutex or waits for a condition: rare orders
// of threads become frequent ones. Under ThreadSanitizer it does nothing, as
// that has to see locks itself.
struct RandomYields {
  // How often a thread has. Zero under ThreadSanitizer.
  static unsigned long count();
};

}  // namespace ubt
