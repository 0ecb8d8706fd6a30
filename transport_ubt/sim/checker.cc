// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/checker.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "transport_ubt/sim/narrow_float.h"
#include "transport_ubt/sim/slot_sums.h"
#include "transport_ubt/sim/spread_shard.h"

namespace ubt::sim {
namespace {

// Whether a report has exactly this range.
bool hasRange(const std::vector<OpReport::Range>& ranges,
              size_t begin,
              size_t end) {
  return std::any_of(
      ranges.begin(), ranges.end(), [&](const OpReport::Range& range) {
        return range.offset == begin && range.count == end - begin;
      });
}

// Whether any rank contributed to a shard, or received it, in transformed form.
// A rank without an outcome counts if it may have done so.
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
  const RankGroups groups = options_.groupsOf(shape);
  const ShardLayout layout(shape, groups.shards(), options_.slotBytes);
  const size_t elementBytes = elementSize(shape.type);
  std::vector<uint64_t> missing(options_.ranks);  // missing pairs, by rank
  std::vector<size_t> filled(options_.ranks);     // filled ranges, by rank
  const bool ownersKnown = std::all_of(
      outcomes.begin(), outcomes.end(), [](auto& o) { return o.there; });
  for (Shard shard(0); shard < groups.shards(); shard.number++) {
    const bool spread =
        groups.count() == 1 && isSpread(options_, shard, outcomes);
    if (spread) {
      checkSpread(key, shard, outcomes);
    }
    for (uint32_t slot = 0; slot < layout.slots(shard); slot++) {
      const size_t begin =
          (layout.shardOffset(shard) + layout.slotOffset(slot)) / elementBytes;
      checkSlot(key,
                {shard, slot, begin, begin + layout.slotElements(shard, slot)},
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
    if (report.endedBy == EndedBy::kComplete && report.pairsMissing > 0) {
      fail(key, rank, "reports that it was complete, but lacks contributions");
    }
    checkSkip(key, rank, outcomes);
    checkDrift(key, rank, report);
    uint64_t drift = 0;
    for (const auto* ranges : {&report.filled, &report.partial}) {
      for (const OpReport::Range& range : *ranges) {
        drift += range.count;
      }
    }
    if (drift != report.driftElements || filled[rank] != report.filled.size()) {
      fail(key,
           rank,
           "reports fills that are not whole slots, or a wrong drift");
    }
    if (ownersKnown && missing[rank] != report.pairsMissing) {
      fail(key,
           rank,
           "reports " + std::to_string(report.pairsMissing) +
               " missing pairs of " + std::to_string(missing[rank]));
    }
  }
}

// A rank that waits for every result fills nothing in. Its results lack sums of
// groups only if some owner does not wait for these.
void Checker::checkDrift(const OpKey& key,
                         int rank,
                         const OpReport& report) const {
  bool allWait = true;
  for (int other = 0; other < options_.ranks; other++) {
    allWait = allWait && options_.protocolOf(other).needsEveryResult();
  }
  if ((options_.protocolOf(rank).needsEveryResult() &&
       !report.filled.empty()) ||
      (allWait && report.driftElements > 0)) {
    fail(key, rank, "drifts, though it waits for every result");
  }
}

// Checks a shard with transformed contributions. Every rank's part must be the
// inverse of the sums. Ranks that filled nothing must hold the same bits.
void Checker::checkSpread(const OpKey& key,
                          int owner,
                          const std::vector<Outcome>& outcomes) const {
  const SpreadShard shard(options_, inputs_, key, Shard(owner), outcomes);
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
               ": not the sum of the transformed and the plain contributions");
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

// A rank skips an op if and only if too much is missing. If ops may be skipped,
// all ranks lack the same data.
void Checker::checkSkip(const OpKey& key,
                        int rank,
                        const std::vector<Outcome>& outcomes) const {
  const double share = options_.protocol.skipLoss;
  const OpReport& report = outcomes[rank].report;
  const bool tooMuch =
      share > 0 && report.pairsMissing > share * report.pairsExpected;
  if (report.skipped != tooMuch) {
    fail(key, rank, "was skipped or not, contrary to its report");
  }
  for (const Outcome& other : outcomes) {
    if (share > 0 && other.there &&
        (other.report.pairsMissing != report.pairsMissing ||
         other.report.driftElements > 0)) {
      fail(key, rank, "misses other contributions than another rank");
    }
  }
}

// A rank that reports a slot as filled must have filled it. All other ranks
// must hold the same bits: the sum of exactly the contributors that the owner
// reports. A group that reports a partial result may hold other bits than other
// groups.
void Checker::checkSlot(const OpKey& key,
                        const Slot& slot,
                        bool spread,
                        const std::vector<Outcome>& outcomes,
                        std::vector<uint64_t>* missing,
                        std::vector<size_t>* filled) const {
  const OpShape shape = inputs_.shapeOf(key);
  const size_t elementBytes = elementSize(shape.type);
  const RankGroups groups = options_.groupsOf(shape);
  const SlotSums sums(groups, slot.shard, slot.index, outcomes);
  const size_t elements = slot.end - slot.begin;
  // The first results seen: complete ones, and partial ones of each group.
  const std::byte* same = nullptr;
  std::vector<const std::byte*> sameInGroup(groups.count());
  bool honest = true;  // no owner disagrees with other ranks
  for (int group = 0; group < groups.count(); group++) {
    honest = honest && groups.owner(group, slot.shard) != options_.disagrees;
  }
  for (int rank = 0; rank < options_.ranks; rank++) {
    const Outcome& mine = outcomes[rank];
    if (!mine.there) {
      continue;
    }
    const int group = groups.groupOf(rank);
    const int owner = groups.owner(group, slot.shard);
    const std::vector<int>& contributors = sums.contributors(group);
    const bool partial = hasRange(mine.report.partial, slot.begin, slot.end);
    if (rank != owner && hasRange(mine.report.filled, slot.begin, slot.end)) {
      (*missing)[rank] += (options_.ranks - 1) * elements;
      (*filled)[rank]++;
      if (!spread && !isZero(key, slot, mine)) {
        fail(key, rank, "a missing slot that is not zero");
      }
      continue;
    }
    (*missing)[rank] += (options_.ranks - contributors.size()) * elements;
    if (sums.known(group) && options_.mostRanksCome() &&
        2 * contributors.size() <= static_cast<size_t>(options_.ranks)) {
      fail(key, rank, "a sum leaves most ranks out");
    }
    if (spread) {
      continue;
    }
    if (sums.known(group) && partial != sums.partial(group)) {
      fail(key, rank, "lacks groups' sums and does not say so, or has them");
    }
    const std::byte* const result =
        mine.result.data() + slot.begin * elementBytes;
    const std::byte*& first = partial ? sameInGroup[group] : same;
    if (first == nullptr) {
      first = result;
      const bool good = mine.report.skipped ? isZero(key, slot, mine)
                        : sums.known(group)
                            ? isSum(key, slot, contributors, mine)
                            : isSumOfSome(key, slot, mine);
      if (!good && honest) {
        fail(key,
             rank,
             "owner " + std::to_string(owner) + " slot " +
                 std::to_string(slot.index) + ": not the sum of its " +
                 (sums.known(group) ? std::to_string(contributors.size())
                                    : std::string("unknown")) +
                 " contributors");
      }
    } else if (honest &&
               std::memcmp(first, result, elements * elementBytes) != 0) {
      fail(key, rank, "a result differs from another rank's");
    }
  }
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

// For an owner that has not returned (it died or got an error). Its
// contributors are unknown, so the sum of any set of ranks is right, the empty
// set included.
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

// For each peer and stage, checks that expected is the sum of the others.
void Checker::checkStages(const OpKey& key,
                          int rank,
                          const OpReport& report) const {
  const OpShape shape = inputs_.shapeOf(key);
  const RankGroups groups = options_.groupsOf(shape);
  const ShardLayout layout(shape, groups.shards(), options_.slotBytes);
  const OpRanks ranks(rank, options_.ranks, &groups);
  const auto checkOne = [&](const char* stage,
                            int peer,
                            uint64_t shard,
                            const StageBytes& bytes) {
    const uint64_t most = std::max({bytes.received,
                                    bytes.absent,
                                    bytes.late,
                                    bytes.refused,
                                    bytes.cut,
                                    bytes.lost});
    if (bytes.expected != (peer == rank ? 0 : shard) ||
        bytes.sum() != bytes.expected || most > bytes.expected ||
        bytes.repaired > bytes.received) {
      std::ostringstream what;
      what << stage << " stage, rank " << peer << ": of " << bytes.expected
           << " bytes received " << bytes.received << ", repaired "
           << bytes.repaired << ", absent " << bytes.absent << ", late "
           << bytes.late << ", refused " << bytes.refused << ", cut "
           << bytes.cut << ", lost " << bytes.lost;
      fail(key, rank, what.str());
    }
  };
  const uint64_t own = layout.shardSize(ranks.shard());
  for (int peer = 0; peer < options_.ranks; peer++) {
    const bool member = ranks.isMember(peer);
    checkOne("scatter", peer, member ? own : 0, report.scatter[peer]);
    checkOne("broadcast",
             peer,
             member                  ? layout.shardSize(ranks.shardOf(peer))
             : ranks.isCoOwner(peer) ? own
                                     : 0,
             report.broadcast[peer]);
  }
}

}  // namespace ubt::sim
