// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ubt {

// Decides when a job should stop (OptiReduce, section 3.4). If most of the data
// for sums is missing again and again, training makes no progress. Not
// thread-safe.
class Halt {
 public:
  // The weight of one op in the average.
  static constexpr double kWeight = 1.0 / 16;

  // If `lossMost` is zero, the job never stops.
  explicit Halt(double lossMost) : lossMost_(lossMost) {}

  // A bounded op has returned here. `loss`, 0 to 1, is the fraction of the
  // other ranks' contributions that its result lacks.
  void returned(double loss) { loss_ += kWeight * (loss - loss_); }

  bool due() const { return lossMost_ > 0 && loss_ > lossMost_; }
  double loss() const { return loss_; }

 private:
  const double lossMost_;
  double loss_ = 0;
};

}  // namespace ubt
