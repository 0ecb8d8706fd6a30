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

// Notices bounds, set by hand, that are too short for most of what others send
// ever to come in time. Not thread-safe.
class BoundWatch {
 public:
  // In so many calls in a row, of one size class. One burst of others is
  // shorter.
  static constexpr int kCalls = 10;

  // Takes what was set (Options).
  BoundWatch(::ubt::Duration scatter, ::ubt::Duration broadcast)
      : scatter_(scatter), broadcast_(broadcast) {}

  // A call has returned. What to warn of: empty but for the first time that
  // this is the kCalls-th in a row of which a stage ended at its bound before
  // half of it had come.
  std::string returned(const ::ubt::OpReport& report);

 private:
  struct Row {
    int calls = 0;
    // In all of them, of ranks that had entered. Bytes.
    uint64_t expected = 0;
    uint64_t received = 0;
  };
  using Rows = std::map<uint32_t, Row>;  // by size class

  // The row that is full by this call; null: none is.
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
