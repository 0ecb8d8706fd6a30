// SPDX-License-Identifier: Apache-2.0
#pragma once

// The differences between the Gloo of 2022 (Debian's libgloo) and today's
// upstream. Define GLOO_UBT_UPSTREAM_GLOO to build against upstream.

#ifdef GLOO_UBT_UPSTREAM_GLOO

// Pair::isConnected() is pure virtual there. Our pair asks the pair it wraps.
#define GLOO_UBT_PAIR_IS_CONNECTED(inner) \
  bool isConnected() override {           \
    return (inner)->isConnected();        \
  }
// createAndConnectAllPairs() is virtual there. The base class's works for ubt,
// because it uses createPair() and connect(); so does setLocalRank().

#else

#define GLOO_UBT_PAIR_IS_CONNECTED(inner)
#endif
