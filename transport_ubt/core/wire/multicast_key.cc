// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/multicast_key.h"

#include <sodium.h>

#include <string>

namespace ubt {
namespace {

// Derives the key for one use. The key size is an input of the hash.
template <typename Key>
Key derive(const MulticastSeed& seed, const std::string& use) {
  static_assert(sizeof(MulticastSeed) >= crypto_generichash_KEYBYTES_MIN,
                "a seed keys the hash");
  Key key;
  crypto_generichash(key.data(),
                     key.size(),
                     reinterpret_cast<const uint8_t*>(use.data()),
                     use.size(),
                     seed.data(),
                     seed.size());
  return key;
}

}  // namespace

MulticastSeed masked(const MulticastSeed& seed, const MulticastMask& mask) {
  MulticastSeed out{};
  for (size_t i = 0; i < out.size(); i++) {
    out[i] = seed[i] ^ mask[i];
  }
  return out;
}

PeerKeys multicastKeys(const MulticastSeed& seed) {
  PeerKeys keys;
  keys.send = keys.receive = derive<AuthKey>(seed, "tag");
  keys.sendSeal = keys.receiveSeal = derive<SealKey>(seed, "seal");
  return keys;
}

}  // namespace ubt
