// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "transport_ubt/core/base/bit_set.h"
#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/op/op_trace.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// Which rule ended an op.
enum class EndedBy : uint8_t {
  kComplete,  // everything arrived, and is in the result
  kCut,       // every result arrived; some lack contributions
  kBound,     // it stopped waiting for results (repair none)
};

// Bytes of one stage between this rank and one peer:
//
//     expected = received + absent + late + refused + cut + lost
//
// Each is counted apart, because only lost bytes say something about the
// network.
struct StageBytes {
  uint64_t expected = 0;
  uint64_t received = 0;  // in time, including repaired bytes
  uint64_t repaired = 0;  // received after a request
  // Scatter stage: the peer had not entered when its slot closed. Broadcast
  // stage: nothing at all has come from the peer since this rank's entry.
  uint64_t absent = 0;
  uint64_t late = 0;     // arrived after its slot had closed or the call ended
  uint64_t refused = 0;  // arrived when the arena was full, and not again
  uint64_t cut = 0;      // on its way when its slot closed; it has not arrived
  uint64_t lost = 0;     // the rest

  // Bytes that a stage did not wait for. The network did not lose them.
  uint64_t leftOut() const { return absent + late + cut; }
  uint64_t sum() const {
    return received + absent + late + refused + cut + lost;
  }
};

// The outcome of one bounded allreduce at this rank.
struct OpReport {
  OpId op;
  bool bounded = false;  // false: a warm-up op, exact
  EndedBy endedBy = EndedBy::kComplete;
  // The own shard closed before all contributions had arrived.
  bool scatterExpired = false;
  // The own shard was sent without the sum of some group.
  bool exchangeExpired = false;
  // Whether a stage of this rank ended before all had arrived.
  bool expired() const {
    return scatterExpired || exchangeExpired || endedBy == EndedBy::kBound;
  }
  Duration elapsed{0};  // since entry
  // The part of `elapsed` before this rank knew that more than half of all
  // ranks had entered.
  Duration waited{0};
  // Zero: the stage had none, because the op was a warm-up op, or needs every
  // result. A learned one is the longest wait for data on its way. Each is
  // added to those of the stages before it; the first counts from the end of
  // `waited`.
  Duration boundScatter{0};
  Duration boundExchange{0};
  Duration boundBroadcast{0};
  // The longest time that the call could take. Bounds by hand with repair none:
  // these, after `waited`. Otherwise: the call's timeout, from entry on; then
  // it throws.
  Duration limit{0};

  // By rank; the own entry is zero. Where ranks form groups, only members of
  // the own group have entries, and `broadcast` also has the co-owners' sums.
  std::vector<StageBytes> scatter;    // contributions to the own shard
  std::vector<StageBytes> broadcast;  // results of the others' shards

  // By rank: the time from the start of the clock (OpClock) to the news of its
  // entry; to the return, if there was none. Zero: it entered before the start.
  std::vector<Duration> lateBy;

  // StageBytes::leftOut() of both stages and all peers.
  uint64_t leftOutBytes() const {
    uint64_t bytes = 0;
    for (const auto* stage : {&scatter, &broadcast}) {
      for (const StageBytes& peer : *stage) {
        bytes += peer.leftOut();
      }
    }
    return bytes;
  }

  // (contributor, element) pairs that the result should hold, and that it
  // lacks.
  uint64_t pairsExpected = 0;
  uint64_t pairsMissing = 0;
  // Ranges of elements. In both kinds this replica drifts from the others.
  struct Range {
    uint64_t offset = 0;
    uint64_t count = 0;
  };
  // The result did not arrive; zeros replace it.
  std::vector<Range> filled;
  // The result lacks the sum of some group; results of other groups may have
  // it.
  std::vector<Range> partial;
  uint64_t driftElements = 0;  // in all these ranges
  // By shard: the form of the own contribution, and the form of the result
  // (absent if it was skipped or is empty). In transformed shards, missing
  // pairs, fills and drift are counted in coefficients, and each lost
  // coefficient affects every element.
  std::vector<Form> contributed;
  std::vector<Form> forms;
  // Elements of the own shard that are zero at every rank, because too many
  // contributions were missing (Options::zeroLoss). 0 where ranks form groups.
  uint64_t zeroedElements = 0;
  // Too much was missing, so the result is zero at every rank
  // (Options::skipLoss).
  bool skipped = false;
  // The loss that halts a job, and the threshold of each safeguard (Options).
  struct Safeguards {
    // The missing share of the other ranks' contributions: the running average
    // of the context's bounded calls, including this one (Halt).
    double lossAverage = 0;
    double zeroLoss = 0;
    double skipLoss = 0;
    double haltLoss = 0;
  };
  Safeguards safeguards;
  // The range of the own shard, and the elements of one slot; the last slot may
  // have fewer.
  Range ownShard;
  uint64_t slotElements = 0;
  // The elements of one shard; the last ones may have fewer.
  uint64_t shardElements = 0;

  // contributors[rank].test(slot): the own shard's sum of that slot holds the
  // contribution of that rank. Where ranks form groups, it is the own group's
  // sum, and ranks of other groups have no bits.
  std::vector<BitSet> contributors;
  // sums[group].test(slot): the result of that slot holds that group's sum.
  // Empty where ranks form no groups, as is the next.
  std::vector<BitSet> sums;
  // By shard: its owner in the first group.
  std::vector<int> shardOwners;
  // Null unless Options::trace.
  std::shared_ptr<const OpTrace> trace;
};

}  // namespace ubt
