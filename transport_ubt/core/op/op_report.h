// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/bit_set.h"
#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// Which rule ended an op.
enum class EndedBy : uint8_t {
  kComplete,  // everything arrived, and is in the result
  kCut,       // every result arrived; some lack contributions
  kBound,     // the broadcast stage's bound (repair none)
  kEarly,     // before its bound: hardly anything more was to come
};

// Bytes of one stage between this rank and one peer:
// expected = received + absent + late + refused + lost. These are apart because
// only lost says something about the network.
struct StageBytes {
  uint64_t expected = 0;
  uint64_t received = 0;  // in time, repaired ones included
  uint64_t repaired = 0;  // of the received, after a request
  // Scatter stage: the peer had not entered when its slot closed. Broadcast
  // stage: it has given no sign of life since this rank's entry.
  uint64_t absent = 0;
  uint64_t late = 0;     // came after its slot, or the call, had ended
  uint64_t refused = 0;  // came, found the arena full, and did not come again
  uint64_t lost = 0;     // the rest
};

// What became of one bounded allreduce at this rank.
struct OpReport {
  OpId op;
  bool bounded = false;  // false: a warm-up op, exact
  EndedBy endedBy = EndedBy::kComplete;
  bool scatterExpired = false;   // the own shard closed at its bound ...
  bool scatterEarly = false;     // ... or, hardly anything to come, before it
  bool exchangeExpired = false;  // or without some group's sums
  // Whether a stage of this rank did not last until all had come.
  bool expired() const {
    return scatterExpired || exchangeExpired || endedBy == EndedBy::kBound ||
           endedBy == EndedBy::kEarly;
  }
  Duration elapsed{0};  // since entry
  // The part of `elapsed` before this rank knew that more than half of all
  // ranks had entered.
  Duration waited{0};
  Duration boundScatter{0};    // zero while warming up
  Duration boundExchange{0};   // likewise, and where ranks form no groups
  Duration boundBroadcast{0};  // likewise
  // How long the call could take. Repair none: after `waited`, the stages'
  // bounds. Otherwise: from entry, its timeout, at which it throws.
  Duration limit{0};

  // By rank; the own entry is zero.
  std::vector<StageBytes> scatter;    // contributions to the own shard
  std::vector<StageBytes> broadcast;  // results of the others' shards
  // Where ranks form groups, each has these of its own group's members alone,
  // and `broadcast` also of its co-owners: their groups' sums.

  // (contributor, element) pairs this rank's result should hold and lacks.
  uint64_t pairsExpected = 0;
  uint64_t pairsMissing = 0;
  // Ranges of elements filled in locally, and how many those are together:
  // where this replica drifts from the others.
  struct Range {
    uint64_t offset = 0;
    uint64_t count = 0;
  };
  std::vector<Range> filled;
  // Likewise of results that lack a group's sum, which other groups' may have.
  std::vector<Range> partial;
  uint64_t driftElements = 0;  // of both
  // By shard: in which form this rank contributed, and in which the result came
  // (none if it was skipped, or is empty). Of transformed shards, missing
  // pairs, fills and drift are counted in coefficients, and what they harm is
  // all of the shard.
  std::vector<Form> contributed;
  std::vector<Form> forms;
  // Elements of the own shard that were left zero, at every rank, for too much
  // of it was missing (Options::zeroLoss). Zero where ranks form groups.
  uint64_t zeroedElements = 0;
  // Too much was missing: the result is zero, here and at every rank
  // (Options::skipLoss).
  bool skipped = false;
  // What halts a job, and from where on each safeguard acts (Options).
  struct Safeguards {
    // Of what others bring: the share that is missing, on average of the last
    // bounded calls of the context, this one included (Halt).
    double lossAverage = 0;
    double zeroLoss = 0;
    double skipLoss = 0;
    double haltLoss = 0;
  };
  Safeguards safeguards;
  // The own shard's place, and how many elements a slot of it has (the last
  // may have fewer).
  Range ownShard;
  uint64_t slotElements = 0;
  // How many a shard has; the last ones may have fewer.
  uint64_t shardElements = 0;

  // The own shard, slot by slot: which ranks' contributions it sums; where
  // ranks form groups, the own group's sum, and no slots for ranks of others.
  // contributors[rank].test(slot).
  std::vector<BitSet> contributors;
  // By group, likewise: which groups' sums the result adds up. Empty if there
  // are none.
  std::vector<BitSet> sums;
  // By shard: who owns it, in the first group. Empty if there are none.
  std::vector<int> shardOwners;
};

}  // namespace ubt
