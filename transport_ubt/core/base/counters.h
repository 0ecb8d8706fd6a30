// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ubt {

// Every datagram is counted under exactly one of the names up to kSendFailed.
// Later names count something else: datagrams that have one of the first names
// too, records that were never sent, and parts of accepted datagrams that were
// dropped. kEvictedOps and kExpiredOps count ops.
enum class Counter : uint8_t {
  kSentData,
  kSentControl,
  kAcceptedData,
  kAcceptedControl,
  kDuplicateData,    // the slot, or the packet number, came before
  kLateData,         // for a closed slot or a finished op
  kMalformed,        // no header, wrong lengths, out-of-range fields
  kUnknownEpoch,     // this host has no such context
  kOwnEcho,          // a multicast that this rank itself sent
  kNoMulticastKey,   // multicast of a rank whose multicast key is unknown
  kWrongRank,        // source is not a rank, or is this rank
  kBadTag,           // authentication failed
  kReplayed,         // control packet with a number seen before
  kClosedPeer,       // control packet of a rank that left or died
  kUnannounced,      // results of an op whose shape is unknown here
  kMismatched,       // data that contradicts the op's shape
  kUngranted,        // multicast beyond what this rank has granted
  kTooEarly,         // data of an op beyond the limit for peers' ops
  kArenaFull,        // no room for early data, or for the op's state
  kPathProbe,        // a path probe: in time, late or forged
  kSendFailed,       // the socket refused it
  kSentMulticast,    // the part of kSentData that was multicast
  kControlDropped,   // control records, because too many were queued
  kDroppedEarly,     // early results, dropped to make room
  kRefusedAnnounce,  // announcements that came too early or found no room
  kNotRetained,      // slots of reduced shards that found no room
  kLostOnPurpose,    // datagrams that GLOO_UBT_FAULT kept from leaving
  kEvictedOps,       // unentered ops of one rank, dropped to make room
  kExpiredOps,       // ops that no caller entered within 2 timeouts
  kCongested,        // the part of data that came through a long queue (ECN)
  kOverflowed,       // datagrams, or trains, that the socket had no room for
  kCounters,
};

constexpr const char* counterName(Counter counter) {
  constexpr const char* kNames[] = {
      "sent_data",        "sent_control",    "accepted_data",
      "accepted_control", "duplicate_data",  "late_data",
      "malformed",        "unknown_epoch",   "own_echo",
      "no_multicast_key", "wrong_rank",      "bad_tag",
      "replayed",         "closed_peer",     "unannounced",
      "mismatched",       "ungranted",       "too_early",
      "arena_full",       "path_probe",      "send_failed",
      "sent_multicast",   "control_dropped", "dropped_early",
      "refused_announce", "not_retained",    "lost_on_purpose",
      "evicted_ops",      "expired_ops",     "congested",
      "overflowed",
  };
  static_assert(sizeof(kNames) / sizeof(kNames[0]) ==
                    static_cast<size_t>(Counter::kCounters),
                "a name for each counter");
  return kNames[static_cast<size_t>(counter)];
}

class Counters {
 public:
  void add(Counter counter, uint64_t by = 1) {
    values_[static_cast<size_t>(counter)] += by;
  }
  void add(const Counters& others) {
    for (size_t i = 0; i < values_.size(); i++) {
      values_[i] += others.values_[i];
    }
  }
  uint64_t get(Counter counter) const {
    return values_[static_cast<size_t>(counter)];
  }

 private:
  std::array<uint64_t, static_cast<size_t>(Counter::kCounters)> values_{};
};

}  // namespace ubt
