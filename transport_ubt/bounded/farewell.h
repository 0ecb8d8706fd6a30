// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "transport_ubt/bounded/mesh.h"

namespace ubt {

// Lets all ranks report an error that each of them finds by itself. Call it
// before the report. Without it, the first rank to end closes its connections,
// and ranks that have not found the error yet only report the closed
// connection. Returns once each rank has called it or its connection has
// failed, or after `timeout`. After a timeout Gloo's tcp closes the context's
// connections. Any thread may call, but one at a time for each mesh, because it
// uses a fixed slot of `mesh`.
void bidFarewell(const Mesh& mesh, std::chrono::milliseconds timeout);

}  // namespace ubt
