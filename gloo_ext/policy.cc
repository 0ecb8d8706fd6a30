// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/policy.h"

#include <gloo/common/error.h>

#include <cstdlib>
#include <map>
#include <vector>

#include "transport_ubt/config/nearest.h"
#include "transport_ubt/config/settings.h"

namespace gloo_ext {
namespace {

Algorithm algorithmOf(const std::string& name) {
  static const auto* const kAlgorithms = new std::map<std::string, Algorithm>{
      {"", Algorithm::kOriginal},
      {"ring", Algorithm::kRing},
      {"bcube", Algorithm::kBcube},
      {"halving_doubling", Algorithm::kHalvingDoubling},
      {"transpose", Algorithm::kTranspose},
      {"hierarchical_transpose", Algorithm::kHierarchicalTranspose},
      {"optireduce", Algorithm::kOptiReduce},
      {"hierarchical_optireduce", Algorithm::kHierarchicalOptiReduce},
  };
  const auto found = kAlgorithms->find(name);
  if (found != kAlgorithms->end()) {
    return found->second;
  }
  std::vector<std::string> names;
  std::string all;
  for (const auto& [known, unused] : *kAlgorithms) {
    if (!known.empty()) {
      names.push_back(known);
      all += " " + known;
    }
  }
  throw gloo::InvalidOperationException(
      "GLOO_ALGO=" + name + ": did you mean " + ubt::nearest(name, names) +
      "? There are" + all + "; unset it for plain Gloo");
}

}  // namespace

Policy Policy::fromEnvironment() {
  Policy policy;
  if (const char* const name = std::getenv("GLOO_ALGO")) {
    policy.algorithm = algorithmOf(name);
  }
  if (policy.algorithm == Algorithm::kHierarchicalTranspose) {
    policy.groups = ubt::Settings::fromEnvironment().groups;
  }
  if (!policy.mayBound()) {
    return policy;
  }
  const auto settings = ubt::Settings::fromEnvironment();
  policy.onlyChosen = settings.onlyDdp;
  policy.bytesMin = settings.minBytes;
  policy.handshakeTimeout = settings.handshakeTimeout;
  return policy;
}

}  // namespace gloo_ext
