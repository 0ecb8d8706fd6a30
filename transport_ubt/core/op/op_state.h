// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/arena.h"
#include "transport_ubt/core/base/bit_set.h"
#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/reduction.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/op/attendance.h"
#include "transport_ubt/core/op/broadcast_stage.h"
#include "transport_ubt/core/op/bucket.h"
#include "transport_ubt/core/op/op_call.h"
#include "transport_ubt/core/op/op_clock.h"
#include "transport_ubt/core/op/op_host.h"
#include "transport_ubt/core/op/op_parts.h"
#include "transport_ubt/core/op/op_ranks.h"
#include "transport_ubt/core/op/outbox.h"
#include "transport_ubt/core/op/owned_shard.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/core/op/stage_run.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {

// The state of an op at one rank, which the parts of the op share. Op changes
// it. SlotRequests changes only the times of requests, and
// requestsContributions. StageEnds, sampleOf() and the texts of errors
// (op_blame.h) only read it. Not thread-safe.
struct OpState {
  struct Setup {
    OpId id;
    OpShape shape;
    int announcer = 0;  // the rank that brought this shape first
    TimePoint begunAt{};
    const Options* options = nullptr;  // outlive the op, as do the rest
    const Reduction* reduction = nullptr;
    Arena* arena = nullptr;
    OpHost* host = nullptr;
  };

  OpState(const Setup& setup, const OpParts& parts, const OpBounds& bounds);
  OpState(const OpState&) = delete;
  OpState& operator=(const OpState&) = delete;

  // The policy ---------------------------------------------------------------

  bool repairsScatter() const {
    return bounds.exact() || setup.options->repair == RepairPolicy::kBoth;
  }
  // Without every result, replicas would differ.
  bool needsEveryResult() const {
    return bounds.exact() || setup.options->needsEveryResult();
  }
  // The op may leave data out, and its clock runs.
  bool mayCut() const { return !bounds.exact() && clock.runs(); }
  // The learned rules end its stages.
  bool followsRule() const {
    return mayCut() && bounds.rule == OpBounds::Rule::kLearned;
  }
  // The longest time that the call may take: from its entry on or, if it is
  // bounded by hand and does not need every result, from the clock's start.
  Duration limit() const;
  // After this wait, a call names the missing ranks in a warning.
  static constexpr Duration kLongWait = std::chrono::seconds(10);
  Duration longWait() const {
    return std::max(
        {kLongWait, 10 * bounds.stop.usual, 10 * bounds.resultsStop.usual});
  }
  TimePoint callEnd() const { return clock.enteredAt() + bounds.limit; }

  // Ranks --------------------------------------------------------------------

  // Members other than this rank that have entered.
  int othersEntered() const {
    return membersEntered - (call.entered() ? 1 : 0);
  }
  // The number of them that may still send contributions. If contributions are
  // requested, lost ones may come, too.
  int sendersPending() const;
  bool allMembersEntered() const { return membersEntered == ranks.members(); }
  // Whether some contribution of the rank is not in the own shard.
  bool owesContributions(int rank) const;
  // Why the missing contributions of a member are missing.
  StageRun::Cause causeOf(int rank) const;
  // Whether missing slots of a rank may still have been on their way.
  bool isCut(const StageRun& run, int rank) const {
    return !bounds.exact() && !run.progress().hasEnded(rank);
  }

  // Slots --------------------------------------------------------------------

  // The slots received from a member (results) or from a co-owner (its group's
  // sum).
  const BitSet& received(int rank) const;
  bool isAllHere() const { return owned.complete() && broadcast.complete(); }
  // The run of slots of the own group's members.
  StageRun& runOf(Stage stage) {
    return stage == Stage::kScatter ? scatterRun : broadcastRun;
  }
  // The run of the slots that a rank sends in a stage. In the broadcast stage a
  // member sends results, and a co-owner sums.
  StageRun& runOf(int rank, Stage stage) {
    return stage == Stage::kBroadcast && ranks.isCoOwner(rank) ? exchangeRun
                                                               : runOf(stage);
  }
  // When the last of the own results was ready.
  TimePoint ownClosedAt() const {
    return exchangeRun.closedAt == TimePoint{} ? scatterRun.closedAt
                                               : exchangeRun.closedAt;
  }
  // The start of the clock, or the caller's entry if that is later: from then
  // on the call waits for results. REQUIRES that the clock runs.
  TimePoint resultsStart() const {
    return std::max(clock.startedAt(), clock.enteredAt());
  }

  const Setup setup;
  const OpParts parts;
  const OpRanks& ranks = parts.ranks;
  const ShardLayout& layout = parts.layout;
  size_t heldBytes = 0;  // of the arena, in the stages below
  OpBounds bounds;
  OwnedShard owned;
  BroadcastStage broadcast;
  Bucket bucket;
  Attendance attendance;
  OpClock clock;
  Outbox outbox;
  StageRun scatterRun;    // contributions to the own shard
  StageRun exchangeRun;   // other groups' sums of the own shard
  StageRun broadcastRun;  // results of other shards
  OpCall call;

  int membersEntered = 0;
  // Most contributions were lost, and are asked for again.
  bool requestsContributions = false;
  TimePoint resultsAt = kNever;  // all were here
  uint64_t resultsHash = 0;      // of all results; 0: not told

  // Data that was left out because a stage ended.
  struct Cut {
    // Contributions that were on their way: pairs of a rank and a slot, here
    // and at other owners.
    uint32_t late = 0;
    uint64_t lateByOthers = 0;
    int absent = 0;  // ranks
    // Results of slots that were on their way when this call, and others',
    // ended.
    uint32_t results = 0;
    uint64_t resultsByOthers = 0;
  };
  Cut cut;
};

}  // namespace ubt
