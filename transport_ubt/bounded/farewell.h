// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "transport_ubt/bounded/mesh.h"

namespace gloo {
namespace transport {
namespace ubt {

// To be called by all ranks that have found, each by itself, that they cannot
// go on, before they say why. Returns once each has called it or its connection
// has failed, or `timeout` is over; Gloo's tcp then closes the context's
// connections. Without it the first to end closes connections to ranks that do
// not know yet, which see only that. Takes a slot of `mesh` of its own, so one
// at a time for each; from any thread.
void bidFarewell(const Mesh& mesh, std::chrono::milliseconds timeout);

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
