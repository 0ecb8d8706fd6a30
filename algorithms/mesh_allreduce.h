// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>
#include <gloo/common/error.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "transport_ubt/bounded/mesh_deadline.h"
#include "transport_ubt/core/base/require.h"

namespace gloo {

// What the exact allreduces over a mesh share.

// The first of an operation's 256 slots. They are made as Gloo makes its own
// (gloo/types.h), but each algorithm has a prefix that Gloo has not, so that
// algorithms may share a tag.
//
// In the bits that Gloo leaves free is a hash of what this rank brings: a
// message of other elements finds no receive, where it would end the process if
// it were longer and be added to unlike ones if it were not. To ask first, as
// the class form of the transpose does in its first run, would cost every call
// a round trip.
inline uint64_t meshSlot(uint8_t prefix,
                         const detail::AllreduceOptionsImpl& options) {
  const uint64_t hash =
      (options.elements * 0x9e3779b97f4a7c15 ^ options.elementSize) *
      0xbf58476d1ce4e5b9;
  return uint64_t{prefix} << 56 | uint64_t{options.tag} << 24 | hash >> 48 << 8;
}

// How many elements travel as one message where they are reduced on arrival.
inline size_t meshSegmentElements(const detail::AllreduceOptionsImpl& options) {
  constexpr size_t kSegmentBytesMax = 256 << 10;
  const size_t bytes = std::min(options.maxSegmentSize, kSegmentBytesMax);
  return std::max<size_t>(bytes / options.elementSize, 1);
}

using transport::ubt::MeshDeadline;

// Calls run(). When that fails, the error also tells what a user can check.
// REQUIRES outputs, an element size and a reduce function.
template <typename Run>
void runMeshAllreduce(const char* algorithm,
                      const detail::AllreduceOptionsImpl& options,
                      Run&& run) {
  UBT_REQUIRE(!options.out.empty() && options.elementSize > 0 &&
              options.reduce != nullptr);
  try {
    run();
  } catch (const ::gloo::IoException& error) {
    throw ::gloo::IoException(
        std::string(error.what()) + " (in a " + algorithm + " allreduce of " +
        std::to_string(options.elements) + " elements of " +
        std::to_string(options.elementSize) +
        " bytes; do all ranks bring those?)");
  }
}

}  // namespace gloo
