// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/farewell.h"

#include <gloo/common/error.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace gloo {
namespace transport {
namespace ubt {
namespace {

// No collective's: those have a small prefix in the top byte.
constexpr uint64_t kSlot = 0xfd00000000000000;

}  // namespace

void bidFarewell(const Mesh& mesh, std::chrono::milliseconds timeout) {
  char byte = 0;
  std::vector<std::unique_ptr<UnboundBuffer>> buffers;
  try {
    for (int peer = 0; peer < mesh.size; peer++) {
      if (peer != mesh.rank) {
        buffers.push_back(mesh.createUnboundBuffer(&byte, sizeof(byte)));
        buffers.back()->send(peer, kSlot);
        buffers.back()->recv(peer, kSlot);
      }
    }
    for (const auto& buffer : buffers) {
      buffer->waitSend(timeout);
      buffer->waitRecv(timeout);
    }
  } catch (const ::gloo::IoException&) {
    // Somebody is gone already: whoever calls this has more to say than that.
  }
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
