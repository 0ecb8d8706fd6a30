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

// One call on the bounded path, of whichever context.
struct BoundedOp {
  int rank = 0;  // in the context
  int size = 1;
  // Where the context's ranks are to be found.
  std::shared_ptr<const std::vector<std::string>> addresses;
  ubt::ElementType type{};
  size_t bytes = 0;
  const void* data = nullptr;  // the caller's
  std::chrono::nanoseconds took{0};
  ubt::OpReport report;
};

// What became of this process's calls so far. Any thread may call.
class Statistics {
 public:
  // Between this process and another, in all contexts and both stages.
  struct Peer {
    std::string address;
    int rank = 0;  // in the largest context that both are in
    int size = 0;  // of that
    uint64_t expectedBytes = 0;
    uint64_t absentBytes = 0;
    uint64_t lateBytes = 0;
    uint64_t lostBytes = 0;
    uint64_t refusedBytes = 0;
    uint64_t repairedBytes = 0;
  };
  // The bounds that newest calls of a size went by.
  struct Bound {
    size_t bytesFrom = 0;  // a power of two; to under its double
    std::chrono::nanoseconds scatter{0};
    std::chrono::nanoseconds broadcast{0};
  };
  struct Totals {
    uint64_t exactOps = 0;    // not on the bounded path
    uint64_t warmupOps = 0;   // on it, as long as they took
    uint64_t boundedOps = 0;  // with a bound
    uint64_t expiredOps = 0;  // of the bounded: some stage met its bound
    uint64_t skippedOps = 0;  // made zero on all ranks, for what was missing
    uint64_t zeroedElements = 0;  // of own shards, likewise left zero
    uint64_t failedOps = 0;       // threw
    uint64_t bytes = 0;           // of warm-up and bounded ops
    uint64_t repairedBytes = 0;   // likewise: came on request
    uint64_t pairsExpected = 0;   // (contributor, element), of the bounded
    uint64_t pairsMissing = 0;
    uint64_t driftElements = 0;  // where this replica differs from others
    ubt::OpReport::Safeguards safeguards;  // as of the newest bounded call
    std::vector<Bound> bounds;             // smallest first
    std::vector<Peer> peers;               // by rank
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

  // Whether any call was skipped since this was asked last.
  bool skippedSince();

  // Keeps what becomes of the newest call on that data from here on, until
  // forget().
  void track(const void* data);
  void forget(const void* data);
  // Empty if none came by the bounded path, or it is not tracked.
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
  std::vector<std::chrono::nanoseconds> recent_;  // a ring
  size_t next_ = 0;
};

}  // namespace gloo_ext
