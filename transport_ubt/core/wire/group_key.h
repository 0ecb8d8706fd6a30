// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/wire/packet_auth.h"

namespace ubt {

// What the keys of one owner's multicast come from: random, and of one context.
// It reaches each peer masked, in an authentic control record.
using GroupSeed = GroupMask;

// Hides a seed, or shows a hidden one. The mask is one direction's own, and as
// an owner has one seed a context it hides the same bytes whenever it is used:
// whoever lacks it learns nothing.
GroupSeed masked(const GroupSeed& seed, const GroupMask& mask);

// The keys of what an owner says to its group: the same at both ends, for
// nobody answers there. Neither gives away the other, or the seed. Pure.
PeerKeys groupKeys(const GroupSeed& seed);

}  // namespace ubt
