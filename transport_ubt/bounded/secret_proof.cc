// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/secret_proof.h"

#include <sodium.h>

#include "transport_ubt/core/wire/cursor.h"

namespace ubt {

SecretKey keyOf(const std::string& secret) {
  SecretKey key{};
  static_assert(key.size() == crypto_generichash_KEYBYTES, "key size");
  crypto_generichash(key.data(),
                     key.size(),
                     reinterpret_cast<const uint8_t*>(secret.data()),
                     secret.size(),
                     nullptr,
                     0);
  return key;
}

SecretProof proofOf(const std::string& secret,
                    int rank,
                    const uint8_t* bytes,
                    size_t size) {
  SecretKey key = keyOf(secret);
  std::array<std::byte, sizeof(uint32_t)> sender{};
  WriteCursor(sender.data(), sender.size()).put(static_cast<uint32_t>(rank));
  SecretProof proof{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, key.data(), key.size(), proof.size());
  crypto_generichash_update(
      &state, reinterpret_cast<const uint8_t*>(sender.data()), sender.size());
  crypto_generichash_update(&state, bytes, size);
  crypto_generichash_final(&state, proof.data(), proof.size());
  sodium_memzero(&state, sizeof(state));
  sodium_memzero(key.data(), key.size());
  return proof;
}

bool sameProof(const SecretProof& one, const SecretProof& other) {
  return sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace ubt
