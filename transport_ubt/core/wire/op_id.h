// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "transport_ubt/core/base/element_type.h"

namespace ubt {

// Whose numbers tags are. Gloo's class forms take the context's next slot, its
// options forms what the user says: the same number in both means nothing.
enum class TagSpace : uint8_t {
  kOptions = 0,
  kClass = 1,
};

constexpr uint8_t kTagSpaces = 2;

// Names one allreduce within a context: Gloo's tag and how often that tag was
// used before. The context's epoch completes the identity on the wire.
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

// Draws a shard's transform: the same on all ranks, unlike any other shard's.
uint64_t transformSeed(const OpId& id, int shard);

// What all ranks must agree on before they may add their bytes together.
struct OpShape {
  // The bit of fingerprint that says so; no option's.
  static constexpr uint32_t kHierarchical = 0x80000000;

  uint64_t elements = 0;
  ElementType type = ElementType::kFloat32;
  // Hash of every option that changes what bytes mean.
  uint32_t fingerprint = 0;
  // That of the op's id, to which it belongs; not compared.
  TagSpace space = TagSpace::kOptions;

  bool operator==(const OpShape& other) const {
    return elements == other.elements && type == other.type &&
           fingerprint == other.fingerprint;
  }
  bool operator!=(const OpShape& other) const { return !(*this == other); }
  // Whether it runs in the groups of its context's ranks (OpRanks).
  bool hierarchical() const { return (fingerprint & kHierarchical) != 0; }
  size_t bytes() const { return elements * elementSize(type); }
  std::string str() const;
};

}  // namespace ubt
