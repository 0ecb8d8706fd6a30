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

// Common parts of the exact allreduces over a mesh.

// The first of an operation's 256 slots. They are made like Gloo's own
// (gloo/types.h), but each algorithm has a prefix that Gloo does not use, so
// that algorithms may share a tag.
//
// The bits that Gloo leaves free have a hash of this rank's element count and
// size. So a message of other elements finds no receive. Otherwise it would end
// the process if it were longer, and be added to unlike elements if it were
// not. An agreement, as in the first run of the transpose's class form, would
// cost a round trip in every call.
inline uint64_t meshSlot(uint8_t prefix,
                         const detail::AllreduceOptionsImpl& options) {
  const uint64_t hash =
      (options.elements * 0x9e3779b97f4a7c15 ^ options.elementSize) *
      0xbf58476d1ce4e5b9;
  return uint64_t{prefix} << 56 | uint64_t{options.tag} << 24 | hash >> 48 << 8;
}

// The most elements of a message, if they are reduced on arrival.
inline size_t meshSegmentElements(const detail::AllreduceOptionsImpl& options) {
  constexpr size_t kSegmentBytesMax = 256 << 10;
  const size_t bytes = std::min(options.maxSegmentSize, kSegmentBytesMax);
  return std::max<size_t>(bytes / options.elementSize, 1);
}

using ubt::MeshDeadline;

// Calls run(). If that fails, the error also names something the user can
// check. REQUIRES: outputs, an element size and a reduce function.
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
        " bytes; do all ranks pass the same count and type?)");
  }
}

}  // namespace gloo
