// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include <cstring>

namespace gloo {

namespace detail {

// Only Gloo's own allreduce() is a friend of AllreduceOptions. But a derived
// class may name the member, and a pointer to it works on any AllreduceOptions.
struct AllreduceOptionsAccess : AllreduceOptions {
  static const AllreduceOptionsImpl& impl(const AllreduceOptions& options) {
    return options.*(&AllreduceOptionsAccess::impl_);
  }
};

}  // namespace detail

// The values in `options`; valid as long as `options`.
inline const detail::AllreduceOptionsImpl& allreduceOptionsImpl(
    const AllreduceOptions& options) {
  return detail::AllreduceOptionsAccess::impl(options);
}

// Reduces this rank's inputs into its first output, and returns that: the
// contribution to send to other ranks. The output may be one of the first two
// inputs.
inline void* reduceInputs(const detail::AllreduceOptionsImpl& options) {
  const auto& sources = options.in.empty() ? options.out : options.in;
  void* const result = options.out[0]->ptr;
  const void* contribution = sources[0]->ptr;
  for (size_t i = 1; i < sources.size(); i++) {
    options.reduce(result, contribution, sources[i]->ptr, options.elements);
    contribution = result;
  }
  if (contribution != result) {
    std::memcpy(result, contribution, options.elements * options.elementSize);
  }
  return result;
}

// Copies the first output to all others.
inline void copyToOutputs(const detail::AllreduceOptionsImpl& options) {
  for (size_t i = 1; i < options.out.size(); i++) {
    std::memcpy(options.out[i]->ptr,
                options.out[0]->ptr,
                options.elements * options.elementSize);
  }
}

}  // namespace gloo
