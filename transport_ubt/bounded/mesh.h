// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/unbound_buffer.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace gloo {
namespace transport {
namespace ubt {

// The reliable side of a Gloo context: its ranks, connected to each other, and
// buffers to send and receive with, on slots of one's own. Not Gloo's class,
// because the layout of that differs between Gloos.
struct Mesh {
  int rank = 0;
  int size = 1;
  // A buffer over memory that outlives it. Callable from any thread.
  std::function<std::unique_ptr<UnboundBuffer>(void* ptr, size_t bytes)>
      createUnboundBuffer;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
