// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include <cstring>

namespace gloo {

namespace detail {

// Gloo befriends only its own allreduce(). A derived class may name the member
// as well, and a pointer to that member then works on any AllreduceOptions.
struct AllreduceOptionsAccess : AllreduceOptions {
  static const AllreduceOptionsImpl& impl(const AllreduceOptions& options) {
    return options.*(&AllreduceOptionsAccess::impl_);
  }
};

}  // namespace detail

// What a caller put into `options`; lives as long as they do.
inline const detail::AllreduceOptionsImpl& allreduceOptionsImpl(
    const AllreduceOptions& options) {
  return detail::AllreduceOptionsAccess::impl(options);
}

// Reduces this rank's inputs into its first output, which may be the second
// input: what the others are to be sent.
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

// The first output to all others.
inline void copyToOutputs(const detail::AllreduceOptionsImpl& options) {
  for (size_t i = 1; i < options.out.size(); i++) {
    std::memcpy(options.out[i]->ptr,
                options.out[0]->ptr,
                options.elements * options.elementSize);
  }
}

}  // namespace gloo
