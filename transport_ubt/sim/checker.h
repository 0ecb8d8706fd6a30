// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "transport_ubt/core/base/counters.h"
#include "transport_ubt/core/op/op_ranks.h"
#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/sim/arrivals.h"
#include "transport_ubt/sim/inputs.h"
#include "transport_ubt/sim/network.h"
#include "transport_ubt/sim/sim_options.h"
#include "transport_ubt/sim/traffic.h"

namespace ubt::sim {

// The outcome of one op at one rank.
struct Outcome {
  bool there = false;  // the rank has returned a result
  OpReport report;
  TimePoint returnedAt{};
  Duration took{0};  // of the call, with its wait before the op
  std::vector<std::byte> result;
};

// Checks the promises of docs/semantics.md about results and reports. It checks
// each op against inputs that can be computed again.
class Checker {
 public:
  using Violation = std::function<void(const std::string&)>;

  // `options` and `inputs` must outlive this.
  Checker(const SimOptions& options, const Inputs& inputs, Violation violation)
      : options_(options), inputs_(inputs), violation_(std::move(violation)) {}

  // Checks one op. `outcomes` are by rank, and complete.
  void check(const OpKey& key, const std::vector<Outcome>& outcomes) const;

  // Checks the time of one call, which took `took` by its host's clock. Its op
  // may have waited `mayHaveWaited` before it began: for lead, or until results
  // had gone out. The host stood still for `stoodStill`.
  void checkTime(const OpKey& key,
                 int rank,
                 const OpReport& report,
                 Duration took,
                 Duration mayHaveWaited,
                 Duration stoodStill);
  // Checks that the slowest of these calls took no longer than allowed. Any
  // rank may wait for the bound of any other. REQUIRES that the job is over.
  void checkSlowest() const;

  // Checks that a rank's report has each peer's bytes as its endpoint counted
  // them. `context` is the one in its datagrams' headers. REQUIRES that the
  // arena dropped nothing that came early, and that headers tell contexts
  // apart.
  void checkArrivals(const OpKey& key,
                     int rank,
                     const OpReport& report,
                     uint16_t context,
                     const Arrivals& arrivals) const;

  // Checks that sent + duplicated = accepted + duplicate + late + rejected +
  // lost, for data and for control. `counters` is the sum over ranks. REQUIRES
  // that nothing is in flight.
  void checkTraffic(const Counters& counters,
                    const Traffic& traffic,
                    const Network& network) const;

 private:
  struct Slot {
    Shard shard{0};
    uint32_t index = 0;
    size_t begin = 0;  // in elements of the bucket
    size_t end = 0;
  };

  void checkSpread(const OpKey& key,
                   int owner,
                   const std::vector<Outcome>& outcomes) const;
  void checkStages(const OpKey& key, int rank, const OpReport& report) const;
  void checkDrift(const OpKey& key, int rank, const OpReport& report) const;
  void checkSkip(const OpKey& key,
                 int rank,
                 const std::vector<Outcome>& outcomes) const;
  // `spread`: the shard is transformed, so that only all of it can be checked.
  void checkSlot(const OpKey& key,
                 const Slot& slot,
                 bool spread,
                 const std::vector<Outcome>& outcomes,
                 std::vector<uint64_t>* missing,
                 std::vector<size_t>* filled) const;
  bool isZero(const OpKey& key, const Slot& slot, const Outcome& outcome) const;
  bool isSum(const OpKey& key,
             const Slot& slot,
             const std::vector<int>& contributors,
             const Outcome& outcome) const;
  bool isSumOfSome(const OpKey& key,
                   const Slot& slot,
                   const Outcome& outcome) const;
  void fail(const OpKey& key, int rank, const std::string& what) const;

  const SimOptions& options_;
  const Inputs& inputs_;
  const Violation violation_;

  struct Call {
    OpKey key;
    int rank = 0;
    Duration took{0};
  };
  Call slowest_;
  Duration longestBounds_{0};  // sum over the stages of an op
};

}  // namespace ubt::sim
