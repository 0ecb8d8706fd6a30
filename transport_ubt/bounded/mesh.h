// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace ubt {

// The reliable side of a Gloo context: its ranks, connected to each other, and
// buffers to send and receive with, on slots that the caller chooses. Not
// Gloo's class, because its layout differs between versions of Gloo.
struct Mesh {
  // For a wait in Gloo: one that times out closes every connection, so this
  // library's own waits never do.
  static constexpr auto kForEver = std::chrono::hours(24 * 365);

  int rank = 0;
  int size = 1;
  // Creates a buffer over memory that outlives it. Any thread may call.
  std::function<std::unique_ptr<gloo::transport::UnboundBuffer>(void* ptr,
                                                                size_t bytes)>
      createUnboundBuffer;
};

}  // namespace ubt
