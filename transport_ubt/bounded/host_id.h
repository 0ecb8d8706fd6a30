// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ubt {

// A number that is the same for all processes on one host, and differs between
// hosts. It is a hash of the kernel's boot id and the network namespace, or of
// the host's name if one of these is unknown. The namespace counts because
// containers, and the lab's hosts, have a network between them.
uint64_t hostId();

}  // namespace ubt
