// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ubt::sim {

// Each class of what may go wrong, or be unusual, in a simulated job.
enum class Fault : uint8_t {
  kLoss,  // a datagram, at random
  kDuplicate,
  kReorder,
  kStrangers,    // a datagram that nobody of the job sent
  kFullQueue,    // of a link
  kBursts,       // of others
  kPartition,    // rank 0 reaches nobody
  kCut,          // one rank does not reach another
  kKindLoss,     // of data only, or of one kind of record
  kReplay,       // a datagram, long after
  kCorruption,   // of a byte that the tag covers
  kNarrowPath,   // that drops large datagrams
  kSendFailure,  // that loses the datagram
  kSendDelay,    // the socket takes the datagram only later
  kCpu,          // a datagram that waits for a busy host
  kFullBuffer,   // of a host that receives
  kSlow,         // a rank that takes long for each datagram
  kPause,        // of a host
  kClocks,       // that differ
  kLate,         // a caller
  kOpposite,     // order of tags
  kDeafAtFirst,  // rank 0 joins late
  kDeafToGroup,  // ranks that multicast does not reach
  kUnlikeWindow,
  kUnlikeLink,
  kUnlikePolicy,
  kSmallArena,
  kSharedArena,
  kCrash,
  kSecondCrash,
  kRestart,    // a rank that died comes back, in another epoch
  kClosure,    // of a context, while others use it
  kMeshBreak,  // a connection closes between two ranks that live
  kSkip,       // a rank leaves out an op
  kNeverEnters,
  kDisagrees,
  kUnlikeSeal,
  kFaults,
};

constexpr const char* faultName(Fault fault) {
  constexpr const char* kNames[] = {
      "loss",         "duplicate",     "reorder",       "strangers",
      "full_queue",   "bursts",        "partition",     "cut",
      "kind_loss",    "replay",        "corruption",    "narrow_path",
      "send_failure", "send_delay",    "cpu",           "full_buffer",
      "slow",         "pause",         "clocks",        "late",
      "opposite",     "deaf_at_first", "deaf_to_group", "unlike_window",
      "unlike_link",  "unlike_policy", "small_arena",   "shared_arena",
      "crash",        "second_crash",  "restart",       "closure",
      "mesh_break",   "skip",          "never_enters",  "disagrees",
      "unlike_seal",
  };
  static_assert(
      sizeof(kNames) / sizeof(kNames[0]) == static_cast<size_t>(Fault::kFaults),
      "a name for each fault");
  return kNames[static_cast<size_t>(fault)];
}

// How often each happened.
class FaultCounts {
 public:
  void happened(Fault fault) { counts_[static_cast<size_t>(fault)]++; }
  void add(const FaultCounts& others) {
    for (size_t i = 0; i < counts_.size(); i++) {
      counts_[i] += others.counts_[i];
    }
  }
  uint64_t get(Fault fault) const {
    return counts_[static_cast<size_t>(fault)];
  }

 private:
  std::array<uint64_t, static_cast<size_t>(Fault::kFaults)> counts_{};
};

}  // namespace ubt::sim
