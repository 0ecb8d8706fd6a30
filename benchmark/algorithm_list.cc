// SPDX-License-Identifier: Apache-2.0
#include "benchmark/algorithm_list.h"

#include <algorithm>
#include <stdexcept>

#include "benchmark/tcp_algorithms.h"

namespace gloo {
namespace compare {

const std::vector<AlgorithmSpec>& allAlgorithms() {
  static const std::vector<AlgorithmSpec> kAll = [] {
    std::vector<AlgorithmSpec> all;
    // A family of algorithms is one file, and one line here.
    for (const auto& family : {tcpAlgorithms()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return kAll;
}

std::vector<AlgorithmSpec> chooseAlgorithms(
    const std::vector<std::string>& names) {
  const auto& all = allAlgorithms();
  if (names.empty()) {
    return all;
  }
  std::vector<AlgorithmSpec> chosen;
  for (const auto& name : names) {
    const auto it =
        std::find_if(all.begin(), all.end(), [&](const AlgorithmSpec& spec) {
          return spec.name == name;
        });
    if (it == all.end()) {
      std::string known;
      for (const auto& spec : all) {
        known += (known.empty() ? "" : ", ") + spec.name;
      }
      throw std::invalid_argument("unknown algorithm '" + name +
                                  "'; there are " + known);
    }
    chosen.push_back(*it);
  }
  return chosen;
}

}  // namespace compare
}  // namespace gloo
