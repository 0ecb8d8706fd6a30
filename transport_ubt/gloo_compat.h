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
// So is Context::createAndConnectAllPairs(store), in terms of the public
// interface.
#include "gloo/rendezvous/store.h"
#define GLOO_UBT_CONTEXT_CONNECT_ALL                                     \
  void createAndConnectAllPairs(std::shared_ptr<IStore> store) override; \
  /* Whether gloo::Context has a virtual destructor. */                  \
  static constexpr bool kGlooContextIsVirtual = false;

#else

#define GLOO_UBT_PAIR_IS_CONNECTED(inner)
#define GLOO_UBT_CONTEXT_CONNECT_ALL \
  static constexpr bool kGlooContextIsVirtual = true;

#endif
