// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "transport_ubt/core/wire/options.h"

namespace ubt {

// Whether a rank would rather get transformed slots (OptiReduce, section 3.3):
// where much is lost, what is left of each should say something of all. Not
// thread-safe.
class TransformSwitch {
 public:
  // Average loss beyond the first turns it on, loss below the second off.
  static constexpr double kOn = 0.02;
  static constexpr double kOff = 0.01;
  // Of an op in the average, and the most loss that one counts for: a burst is
  // no reason.
  static constexpr double kWeight = 1.0 / 16;
  static constexpr double kLossMost = 0.1;

  explicit TransformSwitch(Hadamard mode) : mode_(mode) {}

  // A bounded op of so many bytes has returned here that lost this share of
  // them, 0 to 1, stragglers' not counted.
  void returned(double loss, size_t bytes) {
    if (bytes_ == 0) {  // as if all had been well before
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
