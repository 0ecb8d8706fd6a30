// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/key_exchange.h"

#include <gloo/common/error.h>
#include <sodium.h>

#include "transport_ubt/bounded/secret_proof.h"
#include "transport_ubt/core/wire/cursor.h"

namespace ubt {
namespace {

static_assert(crypto_kx_PUBLICKEYBYTES == sizeof(PublicKey), "key size");

// A hash of the job's secret and all ranks' public keys. Every derived key
// depends on it.
std::array<uint8_t, 32> transcript(const std::vector<PublicKey>& all,
                                   const std::string& secret) {
  const SecretKey key = keyOf(secret);
  crypto_generichash_state state;
  crypto_generichash_init(&state, key.data(), key.size(), 32);
  for (const PublicKey& publicKey : all) {
    crypto_generichash_update(&state, publicKey.data(), publicKey.size());
  }
  std::array<uint8_t, 32> hash{};
  crypto_generichash_final(&state, hash.data(), hash.size());
  return hash;
}

// Derives the key for one use of one direction. Keys differ by `use`, and by
// their size, which is part of the hash.
template <typename Key>
void bind(const uint8_t* session,
          const std::array<uint8_t, 32>& transcript,
          const std::string& use,
          Key* key) {
  crypto_generichash_state state;
  crypto_generichash_init(
      &state, transcript.data(), transcript.size(), key->size());
  crypto_generichash_update(&state, session, crypto_kx_SESSIONKEYBYTES);
  crypto_generichash_update(
      &state, reinterpret_cast<const uint8_t*>(use.data()), use.size());
  crypto_generichash_final(&state, key->data(), key->size());
  sodium_memzero(&state, sizeof(state));
}

}  // namespace

KeyExchange::KeyExchange() {
  if (sodium_init() < 0 ||
      crypto_kx_keypair(publicKey_.data(), secretKey_.data()) != 0) {
    throw gloo::Exception("libsodium cannot make a key pair");
  }
}

KeyExchange::~KeyExchange() {
  sodium_memzero(secretKey_.data(), secretKey_.size());
}

MulticastSeed KeyExchange::multicastSeed() {
  MulticastSeed seed{};
  randombytes_buf(seed.data(), seed.size());
  return seed;
}

uint64_t KeyExchange::epoch(const std::vector<PublicKey>& all) {
  const auto hash = transcript(all, "epoch");
  return ReadCursor(reinterpret_cast<const std::byte*>(hash.data()),
                    hash.size())
      .get<uint64_t>();
}

std::vector<PeerKeys> KeyExchange::derive(int rank,
                                          const std::vector<PublicKey>& all,
                                          const std::string& secret) const {
  const auto bound = transcript(all, secret);
  std::vector<PeerKeys> keys(all.size());
  for (int peer = 0; peer < static_cast<int>(all.size()); peer++) {
    if (peer == rank) {
      continue;
    }
    uint8_t receive[crypto_kx_SESSIONKEYBYTES];
    uint8_t send[crypto_kx_SESSIONKEYBYTES];
    // The lower rank is the client.
    const auto exchange = rank < peer ? crypto_kx_client_session_keys
                                      : crypto_kx_server_session_keys;
    if (exchange(receive,
                 send,
                 publicKey_.data(),
                 secretKey_.data(),
                 all[peer].data()) != 0) {
      throw gloo::IoException("rank " + std::to_string(peer) +
                              " sent an unacceptable public key");
    }
    bind(send, bound, "tag", &keys[peer].send);
    bind(receive, bound, "tag", &keys[peer].receive);
    bind(send, bound, "seal", &keys[peer].sendSeal);
    bind(receive, bound, "seal", &keys[peer].receiveSeal);
    bind(send, bound, "group", &keys[peer].sendMask);
    bind(receive, bound, "group", &keys[peer].receiveMask);
    sodium_memzero(receive, sizeof(receive));
    sodium_memzero(send, sizeof(send));
  }
  return keys;
}

}  // namespace ubt
