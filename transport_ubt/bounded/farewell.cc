// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/farewell.h"

#include <gloo/common/error.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transport_ubt/bounded/mesh_deadline.h"
#include "transport_ubt/bounded/mesh_slots.h"

namespace ubt {
namespace {

template <typename Talk>
void asFarAsConnected(Talk&& talk) {
  try {
    talk();
  } catch (const gloo::IoException&) {
    // The caller has a more useful error to report.
  }
}

}  // namespace

void bidFarewell(const Mesh& mesh, std::chrono::milliseconds timeout) {
  const MeshDeadline deadline(timeout);
  char byte = 0;
  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> buffers;
  for (int peer = 0; peer < mesh.size; peer++) {
    if (peer != mesh.rank) {
      asFarAsConnected([&] {
        auto buffer = mesh.createUnboundBuffer(&byte, sizeof(byte));
        buffer->send(peer, MeshSlots::kFarewell);
        buffer->recv(peer, MeshSlots::kFarewell);
        buffers.push_back(std::move(buffer));
      });
    }
  }
  // Even if one rank is gone, the others wait for this one.
  for (const auto& buffer : buffers) {
    asFarAsConnected([&] {
      buffer->waitSend(deadline.remaining());
      buffer->waitRecv(deadline.remaining());
    });
  }
}

}  // namespace ubt
