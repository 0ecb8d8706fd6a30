// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/op_id.h"

#include <iomanip>
#include <sstream>
#include <vector>

#include "transport_ubt/core/base/splitmix64.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {
namespace {

std::string authName(uint32_t fingerprint) {
  const uint32_t mode = fingerprint & 3;  // from the wire: any number
  switch (static_cast<AuthMode>(mode - 1)) {
    case AuthMode::kHeader:
      return "header";
    case AuthMode::kFull:
      return "full";
    case AuthMode::kAead:
      return "aead";
  }
  return "unknown";
}

// What a fingerprint consists of, each as a user sets it.
std::vector<std::string> settingsOf(const OpShape& shape) {
  const uint32_t share = (shape.fingerprint & ~(Options::kFingerprintPaper |
                                                OpShape::kHierarchical)) >>
                         2;
  std::ostringstream skipLoss;
  skipLoss << "GLOO_UBT_SKIP_LOSS=" << std::setprecision(4)
           << static_cast<double>(share) / Options::kFingerprintShare;
  return {"GLOO_UBT_AUTH=" + authName(shape.fingerprint),
          skipLoss.str(),
          (shape.fingerprint & Options::kFingerprintPaper) != 0
              ? "GLOO_UBT_EXPERIMENT=loops:paper"
              : "GLOO_UBT_EXPERIMENT=loops:measured",
          shape.hierarchical() ? "a hierarchical algorithm (GLOO_ALGO)"
                               : "a flat algorithm (GLOO_ALGO)"};
}

}  // namespace

uint64_t transformSeed(const OpId& id, int shard) {
  const uint64_t op = uint64_t{id.tag} << 32 | id.count;
  const uint64_t place =
      static_cast<uint64_t>(shard) << 1 | static_cast<uint64_t>(id.space);
  return mixed(mixed(op) + place);
}

std::string OpShape::unlike(const OpShape& other) const {
  std::ostringstream text;
  text << elements << " x " << elementTypeName(type);
  const std::vector<std::string> own = settingsOf(*this);
  const std::vector<std::string> others = settingsOf(other);
  const char* before = " with ";
  for (size_t i = 0; i < own.size(); i++) {
    if (own[i] != others[i]) {
      text << before << own[i];
      before = ", ";
    }
  }
  return text.str();
}

}  // namespace ubt
