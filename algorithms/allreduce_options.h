// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

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

// Throws EnforceNotMet for options of one element or more that make no sense,
// as Gloo's own allreduce() does: buffers must be of the size that they claim.
void checkAllreduceOptions(const detail::AllreduceOptionsImpl& options);

}  // namespace gloo
