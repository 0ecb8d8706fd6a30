// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "transport_ubt/core/wire/options.h"

namespace ubt {

// Decides whether a rank prefers transformed slots (OptiReduce, section 3.3).
// If much is lost, each part that arrives should tell something about every
// element. Not thread-safe.
class TransformSwitch {
 public:
  // An average loss above kOn turns it on, one below kOff turns it off.
  static constexpr double kOn = 0.02;
  static constexpr double kOff = 0.01;
  // The weight of one op in the average, and the largest loss that counts for
  // one op: a single burst is no reason to switch.
  static constexpr double kWeight = 1.0 / 16;
  static constexpr double kLossMost = 0.1;

  explicit TransformSwitch(Hadamard mode) : mode_(mode) {}

  // A bounded op of `bytes` bytes has returned here. `loss` is the sum of
  // the shares that the network lost in each stage.
  void returned(double loss, size_t bytes) {
    if (bytes_ == 0) {  // as if earlier ops had lost nothing
      bytes_ = static_cast<double>(bytes);
    }
    bytes_ += kWeight * (static_cast<double>(bytes) - bytes_);
    lost_ += kWeight *
             (std::min(loss, kLossMost) * static_cast<double>(bytes) - lost_);
    on_ = lost_ > (on_ ? kOff : kOn) * bytes_;
  }

  bool wanted() const {
    return mode_ == Hadamard::kAlways || (mode_ == Hadamard::kAuto && on_);
  }

 private:
  const Hadamard mode_;
  double bytes_ = 0;
  double lost_ = 0;
  bool on_ = false;
};

}  // namespace ubt
