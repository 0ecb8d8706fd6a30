// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport_ubt/bounded/hello.h"
#include "transport_ubt/bounded/secret_proof.h"
#include "transport_ubt/io/socket_address.h"

namespace gloo {
namespace transport {
namespace ubt {

// What a rank tells every other over Gloo's mesh before the first bounded op of
// a context: where it is to be found, and enough to see who does not belong.
struct Greeting {
  Hello hello;
  ::ubt::SocketAddress address;
  // Covers all of it, and the rank.
  SecretProof proof{};

  // Sets the proof of that rank. After this nothing may be altered.
  void prove(const std::string& secret, int rank);

  static constexpr size_t kBytes =
      Hello::kBytes + 1 + 16 + 16;
  std::vector<uint8_t> encode() const;
  // False if these are no bytes of ours, or another version's. Checks form
  // only: whoever uses it calls refusal() first.
  static bool decode(const std::vector<uint8_t>& bytes, Greeting* out);

  // Why this cannot be what that rank of this job has sent, or which field of
  // it is out of bounds, with the rank's name; empty if all is well.
  std::string refusal(const std::string& secret, int rank) const;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
