// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/loop_set.h"
#include "transport_ubt/core/wire/packet_crypto.h"

namespace ubt {

// What happens to slots that are lost or late (docs/semantics.md).
enum class RepairPolicy : uint8_t {
  kNone = 0,       // nothing is requested again (the paper)
  kBroadcast = 1,  // missing results are requested until all are here
  kBoth = 2,       // contributions too, until the scatter stage ends
};

// How an owner orders the contributions to its shard before it adds them.
enum class SumOrder : uint8_t {
  kArrival = 0,  // as they arrive: two runs may round differently
  kRank = 1,     // by rank: the same inputs give the same bits
};

// When this rank transforms its contributions (TransformSwitch).
enum class Hadamard : uint8_t {
  kAuto = 0,  // while some rank loses much
  kAlways = 1,
  kNever = 2,  // this rank still accepts transformed data
};

// The control loops that end stages and admit senders.
enum class Loops : uint8_t {
  kMeasured = 0,  // StopLearning
  kPaper = 1,     // as published: PaperBounds, Incast
};

// Settings of one context. Ranks may differ in all but those that
// fingerprint() covers.
struct Options {
  RepairPolicy repair = RepairPolicy::kBroadcast;
  SumOrder order = SumOrder::kArrival;
  AuthMode auth = AuthMode::kHeader;

  Hadamard hadamard = Hadamard::kAuto;

  // Whether this rank sends its results by multicast to the ranks that receive
  // it, and receives theirs.
  bool multicast = false;

  Loops loops = Loops::kMeasured;
  // Loops of kMeasured that an experiment switches off.
  LoopSet without = {};
  bool has(Loop loop) const { return !without.has(loop); }
  // The share of all contributions that may be left out in the long run because
  // a stage ends. Zero: nothing is left out. The paper's loops have no budget.
  double cutBudget = 0.025;
  // The ops of a size class that teach its usual times. Until some class has
  // had them, ops are exact.
  uint32_t warmupOps = 20;
  // Bounds set by hand, per stage, in place of the learned rules. Zero: none.
  Duration boundScatter{0};
  Duration boundBroadcast{0};
  // If a call lacks more than this fraction of its (contributor, element)
  // pairs, it is skipped: it yields zeros, on all ranks or on none. To ensure
  // that, no rank ends without every result, whatever the repair policy. Zero:
  // nothing is skipped.
  double skipLoss = 0;

  // Whether a call waits for every result up to its timeout and then throws.
  // Calls of warm-up ops always do. Other calls put zeros for missing results.
  bool needsEveryResult() const {
    return repair != RepairPolicy::kNone || skipLoss > 0;
  }

  // Whether ranks tell each other which data was lost. The paper's loops
  // leave all to the bounds, unless results are repaired.
  bool tellsLosses() const {
    return has(Loop::kLossNumbers) &&
           (loops == Loops::kMeasured || needsEveryResult());
  }

  // If an owner lacks more than this fraction of its shard's (contributor,
  // element) pairs when its stage ends, it sends zeros for incomplete slots.
  // Zero: it never does.
  double zeroLoss = 0.5;
  // Whether slots that hold a majority may become zero.
  bool zeroesMajority() const { return zeroLoss > 0 && zeroLoss < 0.5; }
  // If a rank lacks, on average, more than this fraction of the other ranks'
  // contributions, it halts the job: no rank begins another op. Zero: never.
  double haltLoss = 0.9;

  // The most ops that have finished here while a live rank has not finished
  // them.
  uint32_t leadOps = 4;
  // The most bytes in the buckets of those ops. One op alone may have more.
  uint64_t leadBytes = uint64_t{1} << 30;
  // The most entries for the use counts of tags, per tag space (TagCounts). Not
  // a setting.
  size_t tagEntriesMax = 1 << 20;
  // Whether reports tell when contributions arrived (OpTrace).
  bool trace = false;
  // The context's timeout. It limits each call.
  Duration timeout = std::chrono::seconds(30);

  // Must be the same on all ranks. Otherwise their data cannot be summed.
  uint32_t fingerprint() const {
    const auto share = static_cast<uint32_t>(skipLoss * kFingerprintShare);
    // Ranks with other loops send other marks, so tables would mix both.
    const uint32_t paper = loops == Loops::kPaper ? kFingerprintPaper : 0;
    return static_cast<uint32_t>(auth) + 1 + (share << 2) + paper;
  }
  // The fingerprint's parts: the mode + 1, skipLoss from bit 2 on, in units of
  // 1 / kFingerprintShare, and a bit for the paper's loops.
  static constexpr uint32_t kFingerprintShare = 1 << 24;
  static constexpr uint32_t kFingerprintPaper = 1U << 28;
};

}  // namespace ubt
