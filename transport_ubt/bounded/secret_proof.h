// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gloo {
namespace transport {
namespace ubt {

// Says that a rank knows the job's secret, without saying the secret. It covers
// every byte of what the rank tells about itself, and the rank: whoever alters
// one of those has to know the secret as well.
using SecretProof = std::array<uint8_t, 16>;

// The BLAKE2b of the secret, as a key for BLAKE2b: the secret may be empty, or
// longer than a key. Pure; from any thread.
using SecretKey = std::array<uint8_t, 32>;
SecretKey keyOf(const std::string& secret);

// BLAKE2b of rank and bytes, keyed with keyOf(secret). Pure; from any thread.
SecretProof proofOf(const std::string& secret,
                    int rank,
                    const uint8_t* bytes,
                    size_t size);

// Whether the proofs are the same, in a time that does not tell where they
// differ.
bool sameProof(const SecretProof& one, const SecretProof& other);

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
