// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "transport_ubt/core/wire/group_key.h"
#include "transport_ubt/core/wire/packet_auth.h"

namespace gloo {
namespace transport {
namespace ubt {

using PublicKey = std::array<uint8_t, 32>;

// One rank's part in agreeing on a context's epoch and keys (libsodium
// crypto_kx). Keys come from the exchange, all ranks' fresh public keys and
// the job's secret, so nothing recorded elsewhere verifies here.
class KeyExchange {
 public:
  // A fresh key pair. Throws gloo::Exception if there is no randomness.
  KeyExchange();
  ~KeyExchange();  // wipes the secret key
  KeyExchange(const KeyExchange&) = delete;
  KeyExchange& operator=(const KeyExchange&) = delete;

  const PublicKey& publicKey() const { return publicKey_; }

  // What this rank's group keys in a context come from: fresh each time.
  static ::ubt::GroupSeed groupSeed();

  // The identity of a context: a hash of all ranks' public keys, in order.
  static uint64_t epoch(const std::vector<PublicKey>& all);

  // The keys between `rank` (this one) and each other rank; the own entry is
  // zero. Throws gloo::IoException naming a rank whose key is no key.
  std::vector<::ubt::PeerKeys> derive(int rank,
                                      const std::vector<PublicKey>& all,
                                      const std::string& secret) const;

 private:
  PublicKey publicKey_{};
  std::array<uint8_t, 32> secretKey_{};
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
