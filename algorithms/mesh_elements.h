// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "algorithms/segment_layout.h"

namespace gloo {

// The elements of an options-form allreduce, accessed by range. The options
// must outlive it.
class MeshElements {
 public:
  using Range = SegmentLayout::Range;

  explicit MeshElements(const detail::AllreduceOptionsImpl& options)
      : options_(options) {}

  size_t bytes(Range range) const { return range.count * options_.elementSize; }
  // The bytes before the range.
  size_t offset(Range range) const {
    return range.offset * options_.elementSize;
  }

  // The range in the first output.
  uint8_t* output(Range range) const {
    return pointer(*options_.out[0], range);
  }

  // Reduces this rank's inputs. Returns its contribution to `range`, which is
  // in the only input or in the first output.
  const void* reduceInputs(Range range) const {
    const auto& inputs = options_.in.empty() ? options_.out : options_.in;
    const void* left = pointer(*inputs[0], range);
    for (size_t i = 1; i < inputs.size() && range.count > 0; i++) {
      options_.reduce(
          output(range), left, pointer(*inputs[i], range), range.count);
      left = output(range);
    }
    return left;
  }

  // The buffer that contributions are sent from: see reduceInputs.
  transport::UnboundBuffer& source() const {
    return options_.in.size() == 1 ? *options_.in[0] : *options_.out[0];
  }

  // Copies `range` of the first output to all others.
  void copyToOutputs(Range range) const {
    for (size_t i = 1; i < options_.out.size(); i++) {
      std::memcpy(
          pointer(*options_.out[i], range), output(range), bytes(range));
    }
  }

  // Folds partOf(0), partOf(1) and so on, called in that order, into `result`.
  // `scratch` holds intermediate results. It may be `result`, if no part other
  // than the first two is `result`.
  template <typename PartOf>
  void fold(int parts,
            Range range,
            uint8_t* result,
            uint8_t* scratch,
            PartOf&& partOf) const {
    const void* left = partOf(0);
    if (parts == 1 && left != result) {
      std::memcpy(result, left, bytes(range));
    }
    for (int i = 1; i < parts; i++) {
      const void* const right = partOf(i);
      uint8_t* const to = i == parts - 1 ? result : scratch;
      options_.reduce(to, left, right, range.count);
      left = to;
    }
  }

 private:
  uint8_t* pointer(const transport::UnboundBuffer& buffer, Range range) const {
    return static_cast<uint8_t*>(buffer.ptr) + offset(range);
  }

  const detail::AllreduceOptionsImpl& options_;
};

}  // namespace gloo
