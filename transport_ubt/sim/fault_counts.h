// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ubt::sim {

// The classes of faults, and of unusual conditions, in a simulated job.
enum class Fault : uint8_t {
  kLoss,  // a random datagram is lost
  kDuplicate,
  kReorder,
  kStrangers,        // a datagram from nobody in the job
  kFullQueue,        // the queue of a link drops a datagram
  kBursts,           // other users' traffic
  kPartition,        // rank 0 reaches nobody
  kCut,              // one rank does not reach another
  kKindLoss,         // loss of data only, or of one record type
  kFalseCredit,      // a rank gives none, or ignores it
  kMarks,            // data is marked as congested, rightly or not
  kReplay,           // a datagram comes again, long after
  kCorruption,       // a byte that the tag covers is wrong
  kWrongResult,      // a byte that it does not cover
  kNarrowPath,       // a path drops large datagrams
  kSendFailure,      // the socket loses the datagram
  kSendDelay,        // the socket takes the datagram only later
  kCpu,              // a datagram waits for a busy host
  kFullBuffer,       // a receiving host drops a datagram
  kSlow,             // one rank takes long for each datagram
  kPause,            // a host stands still
  kClocks,           // hosts' clocks differ
  kLate,             // a caller enters late
  kOpposite,         // threads enter their ops in another order
  kDeafAtFirst,      // rank 0 joins late
  kDeafToMulticast,  // multicast does not reach some ranks
  kUnlikeWindow,
  kUnlikeLink,
  kUnlikePolicy,
  kSmallArena,
  kSharedArena,
  kCrash,
  kSecondCrash,
  kRestart,    // a rank that died comes back, in another epoch
  kClosure,    // a context ends while others use it
  kMeshBreak,  // a connection between two live ranks closes
  kSkip,       // a rank leaves out an op
  kNeverEnters,
  kDisagrees,
  kUnlikeSeal,
  kFaults,
};

constexpr const char* faultName(Fault fault) {
  constexpr const char* kNames[] = {
      "loss",          "duplicate",
      "reorder",       "strangers",
      "full_queue",    "bursts",
      "partition",     "cut",
      "kind_loss",     "false_credit",
      "marks",         "replay",
      "corruption",    "wrong_result",
      "narrow_path",   "send_failure",
      "send_delay",    "cpu",
      "full_buffer",   "slow",
      "pause",         "clocks",
      "late",          "opposite",
      "deaf_at_first", "deaf_to_multicast",
      "unlike_window", "unlike_link",
      "unlike_policy", "small_arena",
      "shared_arena",  "crash",
      "second_crash",  "restart",
      "closure",       "mesh_break",
      "skip",          "never_enters",
      "disagrees",     "unlike_seal",
  };
  static_assert(
      sizeof(kNames) / sizeof(kNames[0]) == static_cast<size_t>(Fault::kFaults),
      "a name for each fault");
  return kNames[static_cast<size_t>(fault)];
}

// How often each fault happened.
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
