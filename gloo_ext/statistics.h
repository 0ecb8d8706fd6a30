// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "transport_ubt/core/base/element_type.h"
#include "transport_ubt/core/op/op_report.h"

namespace gloo_ext {

// One call on the bounded path, of any context.
struct BoundedOp {
  int rank = 0;  // in the context
  int size = 1;
  // Addresses of the context's ranks.
  std::shared_ptr<const std::vector<std::string>> addresses;
  ubt::ElementType type{};
  size_t bytes = 0;
  const void* data = nullptr;  // of the caller's output
  std::chrono::nanoseconds took{0};
  ubt::OpReport report;
};

// Statistics on this process's calls. Any thread may call.
class Statistics {
 public:
  // Traffic between this process and another, in all contexts and both stages.
  struct Peer {
    std::string address;
    int rank = 0;            // in the largest context that both are in
    int size = 0;            // of that context
    uint64_t absentOps = 0;  // its contribution was left out
    std::chrono::nanoseconds late{0};  // OpReport::lateBy, of all calls
    uint64_t expectedBytes = 0;
    uint64_t absentBytes = 0;
    uint64_t lateBytes = 0;
    uint64_t cutBytes = 0;
    uint64_t lostBytes = 0;
    uint64_t refusedBytes = 0;
    uint64_t repairedBytes = 0;
  };
  // The bounds of the newest call of a size class.
  struct Bound {
    size_t bytesFrom = 0;  // a power of two; the class ends below its double
    std::chrono::nanoseconds scatter{0};
    std::chrono::nanoseconds broadcast{0};
  };
  struct Totals {
    uint64_t exactOps = 0;    // not on the bounded path
    uint64_t warmupOps = 0;   // on the bounded path, without a bound
    uint64_t boundedOps = 0;  // with a bound
    uint64_t expiredOps = 0;  // bounded, and a stage left data out
    uint64_t skippedOps = 0;  // made zero on all ranks: too much was missing
    uint64_t zeroedElements = 0;  // of own shards; zero: too much was missing
    uint64_t failedOps = 0;       // threw an exception
    uint64_t bytes = 0;           // of warm-up and bounded ops
    uint64_t repairedBytes = 0;   // received on request, in the same ops
    uint64_t pairsExpected = 0;   // (contributor, element); bounded ops
    uint64_t pairsMissing = 0;
    uint64_t driftElements = 0;  // where this replica differs from others
    ubt::OpReport::Safeguards safeguards;  // as of the newest bounded call
    std::vector<Bound> bounds;             // smallest first
    std::vector<Peer> peers;               // by rank
    // Of recent bounded ops; zero if there are none.
    std::chrono::nanoseconds p50{0};
    std::chrono::nanoseconds p99{0};
  };

  void exact();
  void failed();
  void add(const BoundedOp& op);

  Totals totals() const;
  // Empty if no call took the bounded path yet.
  std::optional<BoundedOp> last() const;

  // Whether any call was skipped since this was last called.
  bool skippedSince();

  // From now on keeps the report of the newest call with that output, until
  // forget().
  void track(const void* data);
  void forget(const void* data);
  // Empty if no such call took the bounded path, or `data` is not tracked.
  std::optional<BoundedOp> tracked(const void* data) const;

 private:
  static constexpr size_t kRecent = 4096;

  void addToPeer(const BoundedOp& op, int rank);

  mutable std::mutex mutex_;
  Totals totals_;
  std::map<std::string, Peer> peers_;  // by address
  std::map<int, Bound> bounds_;        // by the logarithm of bytesFrom
  std::optional<BoundedOp> last_;
  std::map<const void*, std::optional<BoundedOp>> tracked_;
  bool skippedSince_ = false;
  std::vector<std::chrono::nanoseconds> recent_;  // ring buffer
  size_t next_ = 0;
};

}  // namespace gloo_ext
