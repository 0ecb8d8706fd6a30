// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "transport_ubt/core/base/element_type.h"

namespace ubt {

// Which of two numberings a tag belongs to. Gloo's class forms use the
// context's next slot, its options forms use the user's tag. The same number in
// both numberings names two different ops.
enum class TagSpace : uint8_t {
  kOptions = 0,
  kClass = 1,
};

constexpr uint8_t kTagSpaces = 2;

// Names one allreduce within a context: Gloo's tag, and how often that tag was
// used before. On the wire the context's epoch completes the identity.
struct OpId {
  uint32_t tag = 0;
  uint32_t count = 0;
  TagSpace space = TagSpace::kOptions;

  bool operator==(const OpId& other) const {
    return tag == other.tag && count == other.count && space == other.space;
  }
  bool operator<(const OpId& other) const {
    return std::tie(space, tag, count) <
           std::tie(other.space, other.tag, other.count);
  }
};

// The seed of a shard's transform. It is the same on all ranks and differs from
// shard to shard.
uint64_t transformSeed(const OpId& id, int shard);

// The facts that all ranks must agree on before their data may be summed.
struct OpShape {
  // The bit of `fingerprint` that marks a hierarchical op. No option uses it.
  static constexpr uint32_t kHierarchical = 0x80000000;

  uint64_t elements = 0;
  ElementType type = ElementType::kFloat32;
  // Every option that changes the meaning of the data (Options::fingerprint).
  uint32_t fingerprint = 0;
  // The tag space of the op's id. It is not compared.
  TagSpace space = TagSpace::kOptions;

  bool operator==(const OpShape& other) const {
    return elements == other.elements && type == other.type &&
           fingerprint == other.fingerprint;
  }
  bool operator!=(const OpShape& other) const { return !(*this == other); }
  // Whether it runs in the groups of its context's ranks (OpRanks).
  bool hierarchical() const { return (fingerprint & kHierarchical) != 0; }
  size_t bytes() const { return elements * elementSize(type); }
  // For errors: "64 x float32", and the settings that differ from `other`'s, as
  // in "64 x float32 with GLOO_UBT_AUTH=full".
  std::string unlike(const OpShape& other) const;
};

}  // namespace ubt
