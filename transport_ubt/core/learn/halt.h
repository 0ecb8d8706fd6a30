// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ubt {

// When a job is better stopped (OptiReduce, section 3.4): where most of what
// ranks should sum is missing time and again, training goes nowhere. Not
// thread-safe.
class Halt {
 public:
  // Of an op in the average.
  static constexpr double kWeight = 1.0 / 16;

  // Zero: never.
  explicit Halt(double lossMost) : lossMost_(lossMost) {}

  // A bounded op has returned here that lacks this share of the pairs that
  // other ranks bring, 0 to 1.
  void returned(double loss) { loss_ += kWeight * (loss - loss_); }

  bool due() const { return lossMost_ > 0 && loss_ > lossMost_; }
  double loss() const { return loss_; }

 private:
  const double lossMost_;
  double loss_ = 0;
};

}  // namespace ubt
