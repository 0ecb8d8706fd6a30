// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport_ubt/bounded/hello.h"
#include "transport_ubt/bounded/rank_place.h"
#include "transport_ubt/bounded/secret_proof.h"
#include "transport_ubt/io/socket_address.h"

namespace ubt {

// The message that a rank sends to every other over Gloo's mesh before the
// first bounded op of a context. It has the rank's Hello, its address, and a
// proof that lets others refuse a rank of another job.
struct Greeting {
  Hello hello;
  SocketAddress address;
  // Covers all other fields and the rank.
  SecretProof proof{};

  // Sets the proof of that rank. After this no field may change.
  void prove(const std::string& secret, int rank);

  static constexpr size_t kBytes = Hello::kBytes + 1 + 16 + 16;
  std::vector<uint8_t> encode() const;
  // False if this is no greeting of this version. Checks only the form: call
  // refusal() before use.
  static bool decode(const std::vector<uint8_t>& bytes, Greeting* out);

  // Why that rank of this job cannot have sent this, or which field is out of
  // bounds. Names the rank. Empty if the greeting is good.
  std::string refusal(const std::string& secret, int rank) const;

  RankPlace place() const { return {hello.groups.host, address}; }
};

}  // namespace ubt
