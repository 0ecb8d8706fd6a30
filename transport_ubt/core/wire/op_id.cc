// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/op_id.h"

#include <sstream>

namespace ubt {

std::string OpShape::str() const {
  std::ostringstream text;
  text << elements << " x " << elementTypeName(type) << " (options " << std::hex
       << fingerprint << (hierarchical() ? ", hierarchical)" : ")");
  return text.str();
}

}  // namespace ubt
