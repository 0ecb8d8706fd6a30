// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/wire/packet_auth.h"

namespace ubt {

// What happens to slots that miss their bound (docs/semantics.md).
enum class RepairPolicy : uint8_t {
  kNone = 0,       // the stage ends at its bound (the paper)
  kBroadcast = 1,  // missing results are asked for until all have come
  kBoth = 2,       // contributions too, until the scatter stage's end
};

// What stands in for a result that never came (repair none).
enum class Fill : uint8_t {
  kLocal = 0,  // ranks x the own contribution
  kZero = 1,
};

// In which order an owner adds the contributions to its shard.
enum class SumOrder : uint8_t {
  kArrival = 0,  // as they come: two runs may differ in rounding
  kRank = 1,     // as their ranks count up: the same inputs, the same bits
};

// Whether contributions are transformed (TransformSwitch).
enum class Hadamard : uint8_t {
  kAuto = 0,  // while some rank loses much
  kAlways = 1,
  kNever = 2,  // by this rank; it takes what others transform
};

// How the bound of a stage is learned.
enum class BoundMode : uint8_t {
  kMedian = 0,  // from the running median and quartile of complete stages
  kPaper = 1,   // warm-up's p95 alone (OptiReduce, section 3.2.1)
};

// Settings of one context. Ranks may differ in all but those that
// fingerprint() covers.
struct Options {
  RepairPolicy repair = RepairPolicy::kBroadcast;
  Fill fill = Fill::kLocal;
  SumOrder order = SumOrder::kArrival;
  AuthMode auth = AuthMode::kHeader;

  Hadamard hadamard = Hadamard::kAuto;

  // Whether this rank sends its results by multicast to those that hear it,
  // and hears others'.
  bool multicast = false;

  BoundMode boundMode = BoundMode::kMedian;
  // Exact ops of each size class before its bound holds.
  uint32_t warmupOps = 20;
  // Set by hand: the bound of each stage. Zero: learned.
  Duration boundScatter{0};
  Duration boundBroadcast{0};
  // Whether a stage may end before its learned bound, when hardly anything more
  // is to come (EarlyTimeout). Never before one set by hand.
  bool early = true;
  // What share of what it takes it then waits, above 0 to 1. Zero: learned.
  double earlyShare = 0;
  // Whether that heeds the marks of each sender's last slots; else its pace
  // alone.
  bool marks = true;
  // A call that lacks more than this share of its (contributor, element) pairs
  // is skipped: zeros, at every rank or at none. For that no rank ends without
  // every result, whatever the repair policy. Zero: nothing is skipped.
  double skipLoss = 0;

  // Whether a call waits for every result, up to its timeout, and then throws;
  // calls of warm-up ops always do. Otherwise missing results are filled in.
  bool needsEveryResult() const {
    return repair != RepairPolicy::kNone || skipLoss > 0;
  }

  // An owner that lacks more than this share of its shard's (contributor,
  // element) pairs when the bound comes sends zeros for what is incomplete.
  // Zero: it never does.
  double zeroLoss = 0.5;
  // A rank that lacks more than this share of what the others bring, on
  // average, halts the job: no rank begins another op. Zero: never.
  double haltLoss = 0.9;

  // Ops that may have finished here while a live rank has not finished them.
  uint32_t leadOps = 4;
  // Likewise, bytes of their buckets; one op may have more.
  uint64_t leadBytes = uint64_t{1} << 30;
  // Whether, where results are repaired, no op is begun here, unless others
  // have, while results are still to be sent that others wait for.
  bool resultsFirst = true;
  // How many entries the use counts of tags may take, per tag space
  // (TagCounts). Not a setting.
  size_t tagEntriesMax = 1 << 20;
  // The context's timeout: of warm-up ops, of what waits before an op.
  Duration timeout = std::chrono::seconds(30);

  // The hash all ranks must share for an op to make sense.
  uint32_t fingerprint() const {
    const auto share = static_cast<uint32_t>(skipLoss * (1 << 24));
    return static_cast<uint32_t>(auth) + 1 + (share << 2);
  }
};

}  // namespace ubt
