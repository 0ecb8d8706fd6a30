// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "transport_ubt/core/op/op_report.h"

namespace gloo {
namespace transport {
namespace ubt {

// Finds bounds, set by hand, that are too short for most data of the other
// ranks to arrive. Not thread-safe.
class BoundWatch {
 public:
  // This many calls in a row, of one size class. A burst of other traffic is
  // shorter.
  static constexpr int kCalls = 10;

  // Takes the bounds that were set (Options).
  BoundWatch(::ubt::Duration scatter, ::ubt::Duration broadcast)
      : scatter_(scatter), broadcast_(broadcast) {}

  // Takes the report of a call. Returns a warning, once, when a stage of kCalls
  // calls in a row has ended at its bound with less than half of its bytes.
  // Otherwise empty.
  std::string returned(const ::ubt::OpReport& report);

 private:
  struct Row {
    int calls = 0;
    // Bytes of all these calls, from ranks that had entered.
    uint64_t expected = 0;
    uint64_t received = 0;
  };
  using Rows = std::map<uint32_t, Row>;  // by size class

  // The row that has kCalls calls now; null if none has.
  static const Row* add(Rows* rows,
                        const std::vector<::ubt::StageBytes>& stage,
                        bool ended);
  std::string advice(const char* stages,
                     const Row& row,
                     ::ubt::Duration ended,
                     bool both) const;

  const ::ubt::Duration scatter_;
  const ::ubt::Duration broadcast_;
  bool said_ = false;
  Rows scatters_;
  Rows broadcasts_;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
