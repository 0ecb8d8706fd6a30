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

namespace ubt::sim {

// What one op came to at one rank.
struct Outcome {
  bool there = false;  // it has returned a result
  OpReport report;
  Duration took{0};  // the call, with whatever it waited for first
  std::vector<std::byte> result;
};

// Where datagrams ended beside the network and the counters.
struct Traffic {
  // At ranks that had crashed or closed the context, had not joined yet or had
  // no room, or that got something else in its place.
  uint64_t deafData = 0;
  uint64_t deafControl = 0;
  uint64_t strangers = 0;  // sent by nobody of the job
};

// The promises of docs/semantics.md about results and reports, checked op by
// op against inputs that can be computed again.
class Checker {
 public:
  using Violation = std::function<void(const std::string&)>;

  // How datagrams end that are nobody's of the job.
  static constexpr std::initializer_list<Counter> kRejects = {
      Counter::kMalformed,
      Counter::kUnknownEpoch,
      Counter::kWrongRank,
      Counter::kBadTag,
      Counter::kOwnEcho,
      Counter::kNoGroupKey};

  // `options` and `inputs` must outlive this.
  Checker(const SimOptions& options, const Inputs& inputs, Violation violation)
      : options_(options), inputs_(inputs), violation_(std::move(violation)) {}

  // `outcomes` by rank: all there will ever be of this op.
  void check(const OpKey& key, const std::vector<Outcome>& outcomes) const;

  // One rank's call took so long, by its host's clock, of which its op may have
  // waited to begin: for lead, or until results had gone out. The host stood
  // still for a part of it.
  void checkTime(const OpKey& key,
                 int rank,
                 const OpReport& report,
                 Duration took,
                 Duration mayHaveWaited,
                 Duration stoodStill);
  // Of all these calls the slowest took no longer than it may: any rank waits
  // for the bound of any other. Once the job is over.
  void checkSlowest() const;

  // What one rank reports of each peer's bytes is what came, as its endpoint
  // counted it. `context`: of its datagrams' headers. REQUIRES that the arena
  // took back nothing that had come early, and that headers tell contexts
  // apart.
  void checkArrivals(const OpKey& key,
                     int rank,
                     const OpReport& report,
                     uint16_t context,
                     const Arrivals& arrivals) const;

  // sent + duplicated = accepted + duplicate + late + rejected + lost, for data
  // and for control. `counters`: summed over ranks, when nothing is under way.
  void checkTraffic(const Counters& counters,
                    const Traffic& traffic,
                    const Network& network) const;

 private:
  struct Slot {
    int shard = 0;
    uint32_t index = 0;
    size_t begin = 0;  // elements of the bucket
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
  // `spread`: what the slots of the shard hold shows only in all of it.
  void checkSlot(const OpKey& key,
                 const Slot& slot,
                 bool spread,
                 const std::vector<Outcome>& outcomes,
                 std::vector<uint64_t>* missing,
                 std::vector<size_t>* filled) const;
  bool mustHoldMajority(int owner, const std::vector<Outcome>& outcomes) const;
  bool isFill(const OpKey& key,
              const Slot& slot,
              int rank,
              const Outcome& outcome) const;
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
  Duration longestBounds_{0};  // of an op's stages, together
};

}  // namespace ubt::sim
