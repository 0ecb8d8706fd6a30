// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <cstddef>

#include "transport_ubt/bounded/mesh.h"

namespace gloo {

// The mesh of a context of this program's own Gloo. The context must outlive
// it.
inline ubt::Mesh contextMesh(Context& context) {
  return {context.rank, context.size, [&context](void* ptr, size_t bytes) {
            return context.createUnboundBuffer(ptr, bytes);
          }};
}

}  // namespace gloo
