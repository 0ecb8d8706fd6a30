// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/checker.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "tests/sim/narrow_float.h"
#include "tests/sim/spread_shard.h"

namespace ubt::sim {
namespace {

// Whether the report says that a range was filled in, exactly so.
bool saysFilled(const OpReport& report, size_t begin, size_t end) {
  return std::any_of(report.filled.begin(),
                     report.filled.end(),
                     [&](const OpReport::Range& range) {
                       return range.offset == begin &&
                              range.count == end - begin;
                     });
}

// Whether any rank contributed to a shard, or got it, transformed; or one may
// have of which there is no outcome.
bool isSpread(const SimOptions& options,
              int owner,
              const std::vector<Outcome>& outcomes) {
  for (int rank = 0; rank < options.ranks; rank++) {
    const Outcome& outcome = outcomes[rank];
    const OpReport& report = outcome.report;
    if (outcome.there ? report.contributed[owner] == Form::kTransformed ||
                            (!report.forms.empty() &&
                             report.forms[owner] == Form::kTransformed)
                      : options.mayTransform(rank)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void Checker::fail(const OpKey& key, int rank, const std::string& what) const {
  std::ostringstream text;
  text << "rank " << rank << " context " << key.first.first << " thread "
       << key.first.second << " op " << key.second << ": " << what;
  violation_(text.str());
}

void Checker::check(const OpKey& key,
                    const std::vector<Outcome>& outcomes) const {
  const OpShape shape = inputs_.shapeOf(key);
  const ShardLayout layout(shape, options_.ranks, options_.slotBytes);
  const size_t elementBytes = elementSize(shape.type);
  std::vector<uint64_t> missing(options_.ranks);  // pairs, by rank
  std::vector<size_t> filled(options_.ranks);     // ranges, by rank
  bool ownersKnown = true;
  for (int owner = 0; owner < options_.ranks; owner++) {
    ownersKnown = ownersKnown && outcomes[owner].there;
    const bool spread = isSpread(options_, owner, outcomes);
    if (spread) {
      checkSpread(key, owner, outcomes);
    }
    for (uint32_t slot = 0; slot < layout.slots(owner); slot++) {
      const size_t begin =
          (layout.shardOffset(owner) + layout.slotOffset(slot)) / elementBytes;
      checkSlot(key,
                {owner, slot, begin, begin + layout.slotElements(owner, slot)},
                spread,
                outcomes,
                &missing,
                &filled);
    }
  }
  for (int rank = 0; rank < options_.ranks; rank++) {
    if (!outcomes[rank].there) {
      continue;
    }
    const OpReport& report = outcomes[rank].report;
    checkStages(key, rank, report);
    checkSkip(key, rank, outcomes);
    uint64_t drift = 0;
    for (const OpReport::Range& range : report.filled) {
      drift += range.count;
    }
    if (drift != report.driftElements || filled[rank] != report.filled.size()) {
      fail(key, rank, "reports fills that are no slots, or another drift");
    }
    if (ownersKnown && missing[rank] != report.pairsMissing) {
      fail(key,
           rank,
           "reports " + std::to_string(report.pairsMissing) +
               " missing pairs of " + std::to_string(missing[rank]));
    }
  }
}

// Of a shard of which some contributions were transformed: what ranks got that
// filled nothing is the same, and the inverse of the sums.
void Checker::checkSpread(const OpKey& key,
                          int owner,
                          const std::vector<Outcome>& outcomes) const {
  const SpreadShard shard(options_, inputs_, key, owner, outcomes);
  const std::byte* same = nullptr;
  for (int rank = 0; rank < options_.ranks; rank++) {
    if (!outcomes[rank].there || outcomes[rank].report.skipped) {
      continue;
    }
    if (shard.known() && owner != options_.disagrees &&
        !shard.isRightAt(rank)) {
      fail(key,
           rank,
           "owner " + std::to_string(owner) +
               ": not the sum of what was transformed and what was not");
    }
    if (shard.filledAt(rank)) {
      continue;
    }
    const std::byte* const result = shard.resultAt(rank);
    if (same == nullptr) {
      same = result;
    } else if (std::memcmp(same, result, shard.bytes()) != 0) {
      fail(key, rank, "a transformed shard differs from another rank's");
    }
  }
}

// A rank skips if and only if too much is missing; where anything may be
// skipped, all ranks miss the same.
void Checker::checkSkip(const OpKey& key,
                        int rank,
                        const std::vector<Outcome>& outcomes) const {
  const double share = options_.protocol.skipLoss;
  const OpReport& report = outcomes[rank].report;
  const bool tooMuch =
      share > 0 && report.pairsMissing > share * report.pairsExpected;
  if (report.skipped != tooMuch) {
    fail(key, rank, "skips, or does not, against its own report");
  }
  for (const Outcome& other : outcomes) {
    if (share > 0 && other.there &&
        (other.report.pairsMissing != report.pairsMissing ||
         other.report.driftElements > 0)) {
      fail(key, rank, "misses something else than another rank");
    }
  }
}

// Of bounds set by hand, the options say what a call may take; of learned ones
// only the report does.
void Checker::checkTime(const OpKey& key,
                        int rank,
                        const OpReport& report,
                        Duration took,
                        bool mayHaveWaited) const {
  const Options& protocol = options_.protocol;
  const bool byHand = protocol.boundScatter > Duration{0};
  Duration most = std::min(report.hardBound, protocol.timeout);
  if (byHand && report.bounded) {
    const bool repairs = protocol.repair != RepairPolicy::kNone;
    most = std::min((protocol.boundScatter + protocol.boundBroadcast) *
                        (repairs ? protocol.hardBoundFactor : 1),
                    protocol.timeout);
  }
  if (protocol.skipLoss > 0) {
    most = protocol.timeout;
  }
  if (byHand && protocol.warmupOps == 0 && !report.bounded) {
    fail(key, rank, "not bounded, though its bounds are set");
  }
  // Who waits for a full socket notices the end that much later.
  most += Duration(static_cast<int64_t>(1e9 * options_.socketBytes /
                                        options_.bytesPerSecond));
  if (report.elapsed > most || (!mayHaveWaited && took > most)) {
    fail(key, rank, "outlasted its bounds");
  }
  if (report.elapsed > took || (!mayHaveWaited && report.elapsed != took)) {
    fail(key, rank, "took another time than it reports");
  }
}

// Where a rank says it has filled a slot, it has; all others hold the same
// bits, the reduction of exactly the contributors that the owner reports.
void Checker::checkSlot(const OpKey& key,
                        const Slot& slot,
                        bool spread,
                        const std::vector<Outcome>& outcomes,
                        std::vector<uint64_t>* missing,
                        std::vector<size_t>* filled) const {
  const size_t elementBytes = elementSize(inputs_.shapeOf(key).type);
  const Outcome& owner = outcomes[slot.owner];
  std::vector<int> contributors;
  for (int rank = 0; owner.there && rank < options_.ranks; rank++) {
    if (owner.report.contributors[rank].test(slot.index)) {
      contributors.push_back(rank);
    }
  }
  const size_t elements = slot.end - slot.begin;
  const std::byte* same = nullptr;
  for (int rank = 0; rank < options_.ranks; rank++) {
    const Outcome& mine = outcomes[rank];
    if (!mine.there) {
      continue;
    }
    if (rank != slot.owner && saysFilled(mine.report, slot.begin, slot.end)) {
      (*missing)[rank] += (options_.ranks - 1) * elements;
      (*filled)[rank]++;
      if (!spread && !isFill(key, slot, rank, mine)) {
        fail(key, rank, "a fill that is none");
      }
      continue;
    }
    (*missing)[rank] += (options_.ranks - contributors.size()) * elements;
    if (spread) {
      continue;
    }
    const std::byte* const result =
        mine.result.data() + slot.begin * elementBytes;
    if (same == nullptr) {
      same = result;
      const bool good = mine.report.skipped ? isZero(key, slot, mine)
                        : owner.there ? isSum(key, slot, contributors, mine)
                                      : isSumOfSome(key, slot, mine);
      if (!good && slot.owner != options_.disagrees) {
        fail(key,
             rank,
             "owner " + std::to_string(slot.owner) + " slot " +
                 std::to_string(slot.index) + ": not the sum of its " +
                 (owner.there ? std::to_string(contributors.size())
                              : std::string("unknown")) +
                 " contributors");
      }
    } else if (std::memcmp(same, result, elements * elementBytes) != 0) {
      fail(key, rank, "a result differs from another rank's");
    }
  }
}

bool Checker::isFill(const OpKey& key,
                     const Slot& slot,
                     int rank,
                     const Outcome& outcome) const {
  const ElementType type = inputs_.shapeOf(key).type;
  for (size_t i = slot.begin; i < slot.end; i++) {
    if (loadElement(type, outcome.result.data() + i * elementSize(type)) !=
        inputs_.fillOf(key, rank, i)) {
      return false;
    }
  }
  return true;
}

bool Checker::isZero(const OpKey& key,
                     const Slot& slot,
                     const Outcome& outcome) const {
  const size_t elementBytes = elementSize(inputs_.shapeOf(key).type);
  const auto* const begin = outcome.result.data() + slot.begin * elementBytes;
  return std::all_of(begin,
                     begin + (slot.end - slot.begin) * elementBytes,
                     [](std::byte byte) { return byte == std::byte{0}; });
}

bool Checker::isSum(const OpKey& key,
                    const Slot& slot,
                    const std::vector<int>& contributors,
                    const Outcome& outcome) const {
  const ElementType type = inputs_.shapeOf(key).type;
  for (size_t i = slot.begin; i < slot.end; i++) {
    const double got =
        loadElement(type, outcome.result.data() + i * elementSize(type));
    if (!inputs_.isSum(key, contributors, i, got)) {
      return false;
    }
  }
  return true;
}

// The owner has not returned (it died, or got an error): who contributed is not
// known, but somebody did, or nobody at all.
bool Checker::isSumOfSome(const OpKey& key,
                          const Slot& slot,
                          const Outcome& outcome) const {
  if (options_.ranks > 8) {
    return true;  // too many sets to try
  }
  for (int set = (1 << options_.ranks) - 1; set >= 0; set--) {
    std::vector<int> contributors;
    for (int rank = 0; rank < options_.ranks; rank++) {
      if (set >> rank & 1) {
        contributors.push_back(rank);
      }
    }
    if (isSum(key, slot, contributors, outcome)) {
      return true;
    }
  }
  return false;
}

// expected = received + absent + late + refused + lost, by peer and stage.
void Checker::checkStages(const OpKey& key,
                          int rank,
                          const OpReport& report) const {
  const ShardLayout layout(
      inputs_.shapeOf(key), options_.ranks, options_.slotBytes);
  const auto checkOne = [&](const char* stage,
                            int peer,
                            uint64_t shard,
                            const StageBytes& bytes) {
    const uint64_t most = std::max(
        {bytes.received, bytes.absent, bytes.late, bytes.refused, bytes.lost});
    const uint64_t told =
        bytes.received + bytes.absent + bytes.late + bytes.refused + bytes.lost;
    if (bytes.expected != (peer == rank ? 0 : shard) ||
        told != bytes.expected || most > bytes.expected ||
        bytes.repaired > bytes.received) {
      std::ostringstream what;
      what << stage << " stage, rank " << peer << ": of " << bytes.expected
           << " bytes received " << bytes.received << ", repaired "
           << bytes.repaired << ", absent " << bytes.absent << ", late "
           << bytes.late << ", refused " << bytes.refused << ", lost "
           << bytes.lost;
      fail(key, rank, what.str());
    }
  };
  for (int peer = 0; peer < options_.ranks; peer++) {
    checkOne("scatter", peer, layout.shardSize(rank), report.scatter[peer]);
    checkOne("broadcast", peer, layout.shardSize(peer), report.broadcast[peer]);
  }
}

void Checker::checkTraffic(const Counters& counters,
                           const Traffic& traffic,
                           const Network& network) const {
  const auto total = [&](Counter c) { return counters.get(c); };
  const auto balance = [&](const char* what,
                           uint64_t sent,
                           uint64_t ended,
                           const std::vector<Counter>& ends) {
    for (const Counter end : ends) {
      ended += total(end);
    }
    if (sent != ended) {
      violation_(std::string(what) + " datagrams: " + std::to_string(sent) +
                 " went out, " + std::to_string(ended) + " are accounted for");
    }
  };
  const std::initializer_list<Counter> dataEnds = {Counter::kAcceptedData,
                                                   Counter::kDuplicateData,
                                                   Counter::kLateData,
                                                   Counter::kUnannounced,
                                                   Counter::kMismatched,
                                                   Counter::kTooEarly,
                                                   Counter::kArenaFull};
  const std::initializer_list<Counter> controlEnds = {
      Counter::kAcceptedControl, Counter::kReplayed, Counter::kClosedPeer};
  const std::initializer_list<Counter> rejects = {Counter::kMalformed,
                                                  Counter::kUnknownEpoch,
                                                  Counter::kWrongRank,
                                                  Counter::kBadTag};
  const uint64_t data =
      total(Counter::kSentData) + network.duplicated(PacketType::kData);
  const uint64_t dataLost = network.lost(PacketType::kData) + traffic.deafData;
  const uint64_t control =
      total(Counter::kSentControl) + network.duplicated(PacketType::kControl);
  const uint64_t controlLost =
      network.lost(PacketType::kControl) + traffic.deafControl;
  if (options_.protocol.multicast) {
    // Who lacks an owner's key cannot tell its data from its control, nor
    // either from a stranger's.
    std::vector<Counter> ends = {Counter::kNoGroupKey};
    for (const auto& some : {dataEnds, controlEnds, rejects}) {
      ends.insert(ends.end(), some);
    }
    balance("all",
            data + control + traffic.strangers,
            dataLost + controlLost,
            ends);
    return;
  }
  balance("data", data, dataLost, dataEnds);
  balance("control", control, controlLost, controlEnds);
  uint64_t rejected = 0;
  for (const Counter reject : rejects) {
    rejected += total(reject);
  }
  if (rejected != traffic.strangers) {
    violation_(std::to_string(rejected) + " datagrams were rejected, of " +
               std::to_string(traffic.strangers) + " that strangers sent");
  }
}

}  // namespace ubt::sim
