// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "transport_ubt/hello.h"
#include "transport_ubt/io/socket_address.h"

namespace gloo_ext {

// What a rank tells every other over Gloo's mesh before the first bounded op of
// a context: where it is to be found, and enough to see who does not belong.
struct Greeting {
  gloo::transport::ubt::Hello hello;
  ubt::SocketAddress address;
  // Says that the rank knows the job's secret, without saying that.
  std::array<uint8_t, 16> proof{};

  static constexpr size_t kBytes =
      gloo::transport::ubt::Hello::kBytes + 1 + 16 + 16;
  std::vector<uint8_t> encode() const;
  // False if these are no bytes of ours, or another version's.
  static bool decode(const std::vector<uint8_t>& bytes, Greeting* out);

  // The proof of a rank with that key.
  static std::array<uint8_t, 16> proofOf(
      const std::string& secret, const std::array<uint8_t, 32>& publicKey);
};

}  // namespace gloo_ext
