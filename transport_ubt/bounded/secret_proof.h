// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ubt {

// Proves that a rank knows the job's secret, without revealing it. It covers
// the rank, and every byte of its message about itself. Nobody can change these
// without knowing the secret.
using SecretProof = std::array<uint8_t, 16>;

// The BLAKE2b of the secret, as a key for BLAKE2b: the secret may be empty, or
// longer than a key. Pure; any thread may call.
using SecretKey = std::array<uint8_t, 32>;
SecretKey keyOf(const std::string& secret);

// BLAKE2b of rank and bytes, keyed with keyOf(secret). Pure; any thread may
// call.
SecretProof proofOf(const std::string& secret,
                    int rank,
                    const uint8_t* bytes,
                    size_t size);

// Whether the proofs are equal. Its time does not reveal where they differ.
bool sameProof(const SecretProof& one, const SecretProof& other);

}  // namespace ubt
