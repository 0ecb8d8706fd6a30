// SPDX-License-Identifier: Apache-2.0
#pragma once

// All that differs between the Gloo of 2022 (Debian's libgloo) and today's
// upstream. Define GLOO_UBT_UPSTREAM_GLOO when building against the latter.

#ifdef GLOO_UBT_UPSTREAM_GLOO

// Pair::isConnected() is pure there; a wrapped pair answers for ours.
#define GLOO_UBT_PAIR_IS_CONNECTED(inner) \
  bool isConnected() override {           \
    return (inner)->isConnected();        \
  }
// createAndConnectAllPairs() is virtual there, and right for ubt as it is: it
// uses createPair() and connect(). setLocalRank() is the base class's.

#else

#define GLOO_UBT_PAIR_IS_CONNECTED(inner)
#endif
