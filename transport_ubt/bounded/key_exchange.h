// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "transport_ubt/core/wire/packet_crypto.h"

namespace ubt {

using PublicKey = std::array<uint8_t, 32>;

// One rank's part in agreeing on a context's epoch and keys (libsodium
// crypto_kx). Keys come from the exchange, all ranks' fresh public keys and the
// job's secret, so packets recorded elsewhere do not verify here.
class KeyExchange {
 public:
  // Creates a fresh key pair. Throws gloo::Exception if there is no randomness.
  KeyExchange();
  ~KeyExchange();  // wipes the secret key
  KeyExchange(const KeyExchange&) = delete;
  KeyExchange& operator=(const KeyExchange&) = delete;

  const PublicKey& publicKey() const { return publicKey_; }

  // A fresh seed for this rank's multicast keys in a context.
  static MulticastSeed multicastSeed();

  // The identity of a context: a hash of all ranks' public keys, in order.
  static uint64_t epoch(const std::vector<PublicKey>& all);

  // The keys between `rank` (this one) and each other rank, indexed by rank.
  // This rank's entry is zero. Throws gloo::IoException that names a rank whose
  // public key is invalid.
  std::vector<PeerKeys> derive(int rank,
                               const std::vector<PublicKey>& all,
                               const std::string& secret) const;

 private:
  PublicKey publicKey_{};
  std::array<uint8_t, 32> secretKey_{};
};

}  // namespace ubt
