// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "transport_ubt/core/element_type.h"
#include "transport_ubt/core/op_report.h"

namespace gloo_ext {

// One bounded call, of whichever context.
struct BoundedOp {
  int rank = 0;  // in the context
  int size = 1;
  ubt::ElementType type{};
  size_t bytes = 0;
  std::chrono::nanoseconds took{0};
  ubt::OpReport report;
};

// What became of this process's calls so far. Any thread may call.
class Statistics {
 public:
  // Between this process and one rank of a context; both stages.
  struct Peer {
    uint64_t expectedBytes = 0;
    uint64_t absentBytes = 0;
    uint64_t lateBytes = 0;
    uint64_t lostBytes = 0;
    uint64_t refusedBytes = 0;
    uint64_t repairedBytes = 0;
  };
  struct Totals {
    uint64_t exactOps = 0;       // served by the original or another algorithm
    uint64_t warmupOps = 0;      // over the bounded path, as long as they took
    uint64_t boundedOps = 0;     // with a bound
    uint64_t expiredOps = 0;     // of the bounded: some stage met its bound
    uint64_t failedOps = 0;      // threw
    uint64_t bytes = 0;          // of warm-up and bounded ops
    uint64_t pairsExpected = 0;  // (contributor, element), of the bounded
    uint64_t pairsMissing = 0;
    uint64_t driftElements = 0;  // where this replica differs from others
    std::vector<Peer> peers;     // by rank, all contexts together
    // Of recent bounded ops; zero if there was none.
    std::chrono::nanoseconds p50{0};
    std::chrono::nanoseconds p99{0};
  };

  void exact();
  void failed();
  void add(const BoundedOp& op);

  Totals totals() const;
  // Empty if there was none yet.
  std::optional<BoundedOp> last() const;

 private:
  static constexpr size_t kRecent = 4096;

  mutable std::mutex mutex_;
  Totals totals_;
  std::optional<BoundedOp> last_;
  std::vector<std::chrono::nanoseconds> recent_;  // a ring
  size_t next_ = 0;
};

}  // namespace gloo_ext
