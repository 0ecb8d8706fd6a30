// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ubt {

// Every datagram ends in exactly one of these. Those after kSendFailed count
// parts of that: datagrams that stand under another name, too, records that
// were never sent, and what was dropped of datagrams that had been accepted.
// The last two count ops.
enum class Counter : uint8_t {
  kSentData,
  kSentControl,
  kAcceptedData,
  kAcceptedControl,
  kDuplicateData,    // a slot or a number that was there before
  kLateData,         // for a closed slot or a finished op
  kMalformed,        // no header, wrong lengths, out-of-range fields
  kUnknownEpoch,     // no such context here
  kOwnEcho,          // multicast of this very rank's
  kNoGroupKey,       // multicast of a rank whose group key has not come
  kWrongRank,        // from no rank, or from this one
  kBadTag,           // the authentication failed
  kReplayed,         // control with a number seen before
  kClosedPeer,       // control of a rank that has left, or died
  kUnannounced,      // results of an op whose shape nobody has told yet
  kMismatched,       // data that contradicts the op's shape
  kUngranted,        // multicast of who takes this rank for deaf
  kTooEarly,         // data of one op more than peers may have begun here
  kArenaFull,        // no room to keep early data, or its op's account
  kPathProbe,        // of PathProbes, in time, late or forged
  kSendFailed,       // the socket did not take it
  kSentMulticast,    // of kSentData, those to the whole group
  kControlDropped,   // records to say, when too many waited already
  kDroppedEarly,     // results that came early made way for something else
  kRefusedAnnounce,  // an announcement that came too early, or found no room
  kNotRetained,      // slots of reduced shards there was no room to keep
  kLostOnPurpose,    // of those sent, what GLOO_UBT_FAULT kept from leaving
  kEvictedOps,       // of one rank alone, entered nowhere here, that made way
  kExpiredOps,       // entered by no caller here for twice the timeout
  kCounters,
};

constexpr const char* counterName(Counter counter) {
  constexpr const char* kNames[] = {
      "sent_data",        "sent_control",    "accepted_data",
      "accepted_control", "duplicate_data",  "late_data",
      "malformed",        "unknown_epoch",   "own_echo",
      "no_group_key",     "wrong_rank",      "bad_tag",
      "replayed",         "closed_peer",     "unannounced",
      "mismatched",       "ungranted",       "too_early",
      "arena_full",       "path_probe",      "send_failed",
      "sent_multicast",   "control_dropped", "dropped_early",
      "refused_announce", "not_retained",    "lost_on_purpose",
      "evicted_ops",      "expired_ops",
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
