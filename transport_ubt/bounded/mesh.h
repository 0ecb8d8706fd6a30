// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/unbound_buffer.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace ubt {

// The reliable side of a Gloo context: its ranks, connected to each other, and
// buffers to send and receive with, on slots that the caller chooses. Not
// Gloo's class, because its layout differs between versions of Gloo.
struct Mesh {
  int rank = 0;
  int size = 1;
  // Creates a buffer over memory that outlives it. Any thread may call.
  std::function<std::unique_ptr<gloo::transport::UnboundBuffer>(void* ptr,
                                                                size_t bytes)>
      createUnboundBuffer;
};

}  // namespace ubt
