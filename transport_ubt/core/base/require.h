// SPDX-License-Identifier: Apache-2.0
#pragma once

// UBT_REQUIRE(condition) checks a precondition that a header states as
// REQUIRES. A failure is a bug of this project: it prints the place and aborts
// the process. The check runs where UBT_CHECKS is defined: in
// //transport_ubt/core:checked, which the simulator, the core's tests and the
// fuzzers use, and under sanitizers. Elsewhere the condition is compiled but
// not evaluated.
#ifdef UBT_CHECKS

#include <cstdio>
#include <cstdlib>

namespace ubt {

[[noreturn]] inline void requirementFailed(const char* condition,
                                           const char* file,
                                           int line) {
  std::fprintf(stderr, "%s:%d: REQUIRES %s\n", file, line, condition);
  std::abort();
}

}  // namespace ubt

#define UBT_REQUIRE(condition) \
  ((condition) ? void()        \
               : ::ubt::requirementFailed(#condition, __FILE__, __LINE__))
#else
#define UBT_REQUIRE(condition) static_cast<void>(false && (condition))
#endif
