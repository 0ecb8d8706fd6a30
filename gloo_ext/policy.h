// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "transport_ubt/config/grouping.h"

namespace gloo_ext {

// Which allreduce serves a call.
enum class Algorithm {
  kOriginal,  // whatever Gloo does by itself
  kRing,
  kBcube,
  kHalvingDoubling,
  kTranspose,
  kHierarchicalTranspose,
  kOptiReduce,              // where eligible; Gloo's own elsewhere
  kHierarchicalOptiReduce,  // likewise
};

// What the user wants of the drop-in, all ranks the same.
struct Policy {
  bool mayBound() const {
    return algorithm == Algorithm::kOptiReduce ||
           algorithm == Algorithm::kHierarchicalOptiReduce;
  }

  // GLOO_ALGO; unset: kOriginal.
  Algorithm algorithm = Algorithm::kOriginal;

  // Looked at for kHierarchicalTranspose alone. GLOO_UBT_GROUPS.
  gloo::transport::ubt::Grouping groups;

  // What is below is looked at if mayBound().

  // Smallest bounded allreduce. Bytes. GLOO_UBT_MIN_BYTES.
  size_t bytesMin = 0;

  // For how long ranks may take to find each other at a context's first
  // eligible call; zero: the context's timeout. GLOO_UBT_HANDSHAKE_TIMEOUT.
  std::chrono::milliseconds handshakeTimeout{0};

  // Throws gloo::InvalidOperationException, which names the variable, its value
  // and what is allowed.
  static Policy fromEnvironment();
};

}  // namespace gloo_ext
