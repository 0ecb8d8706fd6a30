// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/algorithm_list.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "benchmark/comparison/tcp_algorithms.h"
#include "benchmark/comparison/ubt_algorithms.h"

namespace gloo {
namespace compare {

const std::vector<AlgorithmSpec>& allAlgorithms() {
  static const std::vector<AlgorithmSpec> kAll = [] {
    std::vector<AlgorithmSpec> all;
    // A family of algorithms is one file and one line here.
    for (const auto& family : {tcpAlgorithms(), ubtAlgorithms()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return kAll;
}

std::string whyNot(const AlgorithmSpec& spec, int ranks) {
  return spec.whyNot ? spec.whyNot(ranks) : "";
}

std::vector<AlgorithmSpec> chooseAlgorithms(
    const std::vector<std::string>& names, int ranks) {
  const auto& all = allAlgorithms();
  std::vector<AlgorithmSpec> chosen;
  if (names.empty()) {
    std::copy_if(all.begin(),
                 all.end(),
                 std::back_inserter(chosen),
                 [&](const AlgorithmSpec& spec) {
                   return spec.byDefault && whyNot(spec, ranks).empty();
                 });
  }
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
    const auto reason = whyNot(*it, ranks);
    if (!reason.empty()) {
      throw std::invalid_argument(name + " " + reason);
    }
    chosen.push_back(*it);
  }
  return chosen;
}

}  // namespace compare
}  // namespace gloo
