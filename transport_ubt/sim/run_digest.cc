// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/run_digest.h"

#include <algorithm>
#include <cstring>

namespace ubt::sim {
namespace {

uint64_t bitsOf(double value) {
  uint64_t bits = 0;
  static_assert(sizeof(bits) == sizeof(value), "a double has 64 bits");
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

uint64_t bitsOf(TimePoint time) {
  return static_cast<uint64_t>(time.time_since_epoch().count());
}

}  // namespace

void RunDigest::Hash::add(const std::vector<std::byte>& bytes) {
  add(bytes.size());
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, &bytes[at], std::min(sizeof(word), bytes.size() - at));
    add(word);
  }
}

void RunDigest::add(const StageBytes& bytes, Hash* hash) {
  for (const uint64_t count : {bytes.expected,
                               bytes.received,
                               bytes.repaired,
                               bytes.absent,
                               bytes.late,
                               bytes.refused,
                               bytes.cut,
                               bytes.lost}) {
    hash->add(count);
  }
}

void RunDigest::add(const std::vector<OpReport::Range>& ranges, Hash* hash) {
  hash->add(ranges.size());
  for (const OpReport::Range& range : ranges) {
    hash->add(range.offset);
    hash->add(range.count);
  }
}

void RunDigest::add(const std::vector<BitSet>& sets, Hash* hash) {
  hash->add(sets.size());
  for (const BitSet& set : sets) {
    hash->add(set.size());
    for (size_t at = set.firstSet(0); at < set.size();
         at = set.firstSet(at + 1)) {
      hash->add(at);
    }
  }
}

void RunDigest::addCall(const OpKey& key, int rank) {
  for (const int part : {key.first.first, key.first.second, key.second, rank}) {
    results_.add(static_cast<uint64_t>(part));
  }
}

void RunDigest::returned(const OpKey& key,
                         int rank,
                         const OpReport& report,
                         const std::vector<std::byte>& result) {
  addCall(key, rank);
  for (const bool flag : {report.bounded,
                          report.scatterExpired,
                          report.exchangeExpired,
                          report.skipped}) {
    results_.add(flag);
  }
  for (const Duration time : {report.elapsed,
                              report.waited,
                              report.boundScatter,
                              report.boundExchange,
                              report.boundBroadcast,
                              report.limit}) {
    results_.add(static_cast<uint64_t>(time.count()));
  }
  for (const uint64_t count : {uint64_t{report.op.tag},
                               uint64_t{report.op.count},
                               static_cast<uint64_t>(report.op.space),
                               static_cast<uint64_t>(report.endedBy),
                               report.pairsExpected,
                               report.pairsMissing,
                               report.driftElements,
                               report.zeroedElements,
                               report.ownShard.offset,
                               report.ownShard.count,
                               report.slotElements,
                               report.shardElements}) {
    results_.add(count);
  }
  for (const double share : {report.safeguards.lossAverage,
                             report.safeguards.zeroLoss,
                             report.safeguards.skipLoss,
                             report.safeguards.haltLoss}) {
    results_.add(bitsOf(share));
  }
  for (const StageBytes& bytes : report.scatter) {
    add(bytes, &results_);
  }
  for (const StageBytes& bytes : report.broadcast) {
    add(bytes, &results_);
  }
  add(report.filled, &results_);
  add(report.partial, &results_);
  add(report.contributors, &results_);
  add(report.sums, &results_);
  for (const Form form : report.contributed) {
    results_.add(static_cast<uint64_t>(form));
  }
  for (const Form form : report.forms) {
    results_.add(static_cast<uint64_t>(form));
  }
  for (const int owner : report.shardOwners) {
    results_.add(static_cast<uint64_t>(owner));
  }
  results_.add(result);
}

void RunDigest::failed(const OpKey& key, int rank, TimePoint now) {
  addCall(key, rank);
  results_.add(bitsOf(now));
}

void RunDigest::sent(int rank,
                     int peer,
                     TimePoint now,
                     const Network::Datagram& datagram) {
  traffic_.add(static_cast<uint64_t>(rank));
  traffic_.add(static_cast<uint64_t>(peer));
  traffic_.add(bitsOf(now));
  traffic_.add(datagram);
}

void RunDigest::counted(int rank, const Counters& counters) {
  traffic_.add(static_cast<uint64_t>(rank));
  for (size_t i = 0; i < static_cast<size_t>(Counter::kCounters); i++) {
    traffic_.add(counters.get(static_cast<Counter>(i)));
  }
}

}  // namespace ubt::sim
