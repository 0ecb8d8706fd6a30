// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ubt {

// A control loop that an experiment may switch off, to find out where it pays
// (docs/results/ablation.md). Its comment describes a job without it.
enum class Loop : uint8_t {
  // When a stage ends.
  kFactor,        // x stays at its first value (CutFactor)
  kAbsent,        // absent ranks are never cut (AbsenceBudget)
  kSplit,         // each cause gets half of the budget (BudgetSplit)
  kSpacing,       // the margin is a multiple of lateness (StepSpacing)
  kHalf,          // nobody tells that half of the senders are through
  kResultsFirst,  // contributions always go first (StageEnds::wantsResults)
  kMajority,      // slots without a majority close (StageEnds::mostIsLost)
  // Who sends how much.
  kOrder,        // data of any op leaves first (Transmitter::goesFirst)
  kShares,       // all senders get the same share (CreditGrants)
  kEarlyCredit,  // new credit leaves when half of a share is used up
  kLossNumbers,  // nobody hears of lost packets (ControlType::kLost)
  kReordering,   // three later numbers always mean a loss (LossDetector)
  kNoticeDelay,  // the window covers only the network's delay (NoticeDelay)
  kTrains,       // trains have the greatest length (TrainLength)
  // How the window reacts (DeliveryWindow).
  kWindow,    // it stays as it begins
  kQueue,     // it ignores loss in a queue that it fills alone
  kTraffic,   // it ignores loss by other traffic
  kBuffer,    // it ignores a full receive buffer
  kBaseLoss,  // it does not learn which loss it cannot prevent
  kMarks,     // it ignores marks (ECN)
};

// The loops that are switched off.
class LoopSet {
 public:
  constexpr LoopSet() = default;
  constexpr LoopSet(Loop loop) : bits_(bit(loop)) {}
  static constexpr LoopSet ofBits(uint32_t bits) {
    LoopSet set;
    set.bits_ = bits;
    return set;
  }

  void add(Loop loop) { bits_ |= bit(loop); }
  constexpr bool has(Loop loop) const { return (bits_ & bit(loop)) != 0; }
  constexpr uint32_t bits() const { return bits_; }

 private:
  static constexpr uint32_t bit(Loop loop) {
    return uint32_t{1} << static_cast<uint32_t>(loop);
  }

  uint32_t bits_ = 0;
};

}  // namespace ubt
