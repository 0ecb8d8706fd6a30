// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/wire/packet_auth.h"

namespace ubt {

// The secret behind one owner's multicast keys (multicastKeys). It is random
// and serves one context. Each peer gets it masked, in an authenticated control
// record.
using MulticastSeed = MulticastMask;

// Masks a seed, or unmasks a masked one. Each direction has its own mask. An
// owner has one seed per context, so a mask always hides the same bytes, and
// reuse of the mask reveals nothing.
MulticastSeed masked(const MulticastSeed& seed, const MulticastMask& mask);

// The keys of an owner's multicast. Send and receive keys are the same, because
// nobody answers by multicast. No key reveals the other or the seed. Pure.
PeerKeys multicastKeys(const MulticastSeed& seed);

}  // namespace ubt
