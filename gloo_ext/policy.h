// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace gloo_ext {

// Which allreduce serves a call.
enum class Algorithm {
  kOriginal,  // whatever Gloo does by itself
  kRing,
  kBcube,
  kHalvingDoubling,
  kTranspose,
  kOptiReduce,  // where eligible; Gloo's own elsewhere
};

// What the user wants of the drop-in, all ranks the same.
struct Policy {
  // GLOO_ALGO; unset: kOriginal. What is below is looked at for kOptiReduce
  // alone.
  Algorithm algorithm = Algorithm::kOriginal;

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
