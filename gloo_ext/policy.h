// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "gloo_ext/chosen_contexts.h"
#include "transport_ubt/config/grouping.h"

namespace gloo_ext {

// The algorithm that serves a call.
enum class Algorithm {
  kOriginal,  // Gloo's own choice
  kRing,
  kBcube,
  kHalvingDoubling,
  kTranspose,
  kHierarchicalTranspose,
  kOptiReduce,              // if eligible; otherwise Gloo's own
  kHierarchicalOptiReduce,  // as kOptiReduce
};

// The user's settings for the drop-in. Equal on all ranks.
struct Policy {
  bool mayBound() const {
    return algorithm == Algorithm::kOptiReduce ||
           algorithm == Algorithm::kHierarchicalOptiReduce;
  }

  // GLOO_ALGO; unset: kOriginal.
  Algorithm algorithm = Algorithm::kOriginal;

  // Used only for kHierarchicalTranspose. GLOO_UBT_GROUPS.
  ubt::Grouping groups;

  // The members below are used only if mayBound().

  // Whether a context is bounded only if its user chose so. GLOO_UBT_BOUNDED.
  bool onlyChosen = false;
  bool bounds(Choice choice) const {
    return choice == Choice::kBounded ||
           (choice == Choice::kDefault && !onlyChosen);
  }

  // Smallest bounded allreduce. Bytes. GLOO_UBT_MIN_BYTES.
  size_t bytesMin = 0;

  // How long ranks may take to find each other at a context's first eligible
  // call. Zero: the context's timeout. GLOO_UBT_HANDSHAKE_TIMEOUT.
  std::chrono::milliseconds handshakeTimeout{0};

  // Throws gloo::InvalidOperationException, which names the variable, its value
  // and the allowed values.
  static Policy fromEnvironment();
};

}  // namespace gloo_ext
