// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "transport_ubt/core/op/op_report.h"

namespace gloo {
namespace transport {
namespace ubt {

// Notices ranks that straggle always: nobody waits for them, so their
// contributions are in no sum, and a training goes on without their share of
// the data. Not thread-safe.
class AbsenceWatch {
 public:
  // In so many bounded calls in a row. A pause of a process is shorter; and a
  // job that halts for what is missing (ubt::Halt) does so later.
  static constexpr int kCalls = 30;

  // A call has returned. What to warn of: empty but for the first time that
  // this is the kCalls-th in a row into whose own shard nothing came from some
  // rank, for it had not entered.
  std::string returned(const ::ubt::OpReport& report);

 private:
  std::vector<int> calls_;  // by rank; beyond kCalls: said
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
