// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/op_id.h"

#include <sstream>

#include "transport_ubt/core/base/splitmix64.h"

namespace ubt {

uint64_t transformSeed(const OpId& id, int shard) {
  const uint64_t op = uint64_t{id.tag} << 32 | id.count;
  const uint64_t place =
      static_cast<uint64_t>(shard) << 1 | static_cast<uint64_t>(id.space);
  return mixed(mixed(op) + place);
}

std::string OpShape::str() const {
  std::ostringstream text;
  text << elements << " x " << elementTypeName(type) << " (options " << std::hex
       << fingerprint << (hierarchical() ? ", hierarchical)" : ")");
  return text.str();
}

}  // namespace ubt
