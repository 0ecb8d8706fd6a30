// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gloo {
namespace transport {
namespace ubt {

// The same number for processes on one host, another one elsewhere: made of the
// host's name, what the kernel drew when it booted, and the network namespace,
// for containers and the lab's hosts have a network between them.
uint64_t hostId();

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
