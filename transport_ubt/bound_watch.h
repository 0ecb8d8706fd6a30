// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "transport_ubt/core/op_report.h"

namespace gloo {
namespace transport {
namespace ubt {

// Notices a bound, set by hand, that is too short for most of what others send
// ever to come in time. Not thread-safe.
class BoundWatch {
 public:
  // In so many calls in a row. One burst of others is shorter.
  static constexpr int kCalls = 10;

  // A call has returned. What to warn of: empty but for the first time that
  // this is the kCalls-th in a row whose scatter stage ended at its bound
  // before half of it had come.
  std::string returned(const ::ubt::OpReport& report);

 private:
  bool said_ = false;
  int calls_ = 0;  // of the row
  // In all of them, of ranks that had entered. Bytes.
  uint64_t expected_ = 0;
  uint64_t received_ = 0;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
