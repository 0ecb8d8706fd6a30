// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/algorithm_list.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "benchmark/algorithm_name.h"
#include "benchmark/comparison/tcp_algorithms.h"
#include "benchmark/comparison/ubt_algorithms.h"
#include "transport_ubt/config/nearest.h"

namespace gloo {
namespace compare {

namespace {

using ubt::Settings;

std::string namesOf(const std::vector<AlgorithmSpec>& algorithms) {
  std::string names;
  for (const auto& spec : algorithms) {
    names += (names.empty() ? "" : ", ") + spec.name;
  }
  return names;
}

std::string nearestOf(const std::string& name,
                      const std::vector<AlgorithmSpec>& algorithms) {
  std::vector<std::string> names;
  names.reserve(algorithms.size());
  for (const auto& spec : algorithms) {
    names.push_back(spec.name);
  }
  return ubt::nearest(name, names);
}

AlgorithmSpec named(const std::string& text,
                    const Settings& environment,
                    int ranks) {
  const auto name = AlgorithmName::parse(text);
  const auto all = allAlgorithms(name.over(environment));
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const AlgorithmSpec& spec) {
        return spec.name == name.algorithm;
      });
  if (found == all.end()) {
    throw std::invalid_argument(
        "there is no algorithm '" + name.algorithm + "'; did you mean " +
        nearestOf(name.algorithm, all) + "? There are: " + namesOf(all));
  }
  if (!name.settings.empty() && !found->isBounded) {
    throw std::invalid_argument(text + ": " + name.algorithm +
                                " takes no settings; optireduce and "
                                "hierarchical_optireduce do");
  }
  auto spec = *found;
  spec.name = text;
  const auto reason = whyNot(spec, ranks);
  if (!reason.empty()) {
    throw std::invalid_argument(text + " " + reason);
  }
  return spec;
}

}  // namespace

std::vector<AlgorithmSpec> allAlgorithms(const Settings& settings) {
  std::vector<AlgorithmSpec> all;
  // A family of algorithms is one file and one line here.
  for (const auto& family :
       {tcpAlgorithms(settings), ubtAlgorithms(settings)}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

std::string whyNot(const AlgorithmSpec& spec, int ranks) {
  return spec.whyNot ? spec.whyNot(ranks) : "";
}

std::vector<AlgorithmSpec> chooseAlgorithms(
    const std::vector<std::string>& names, int ranks) {
  const auto environment = Settings::fromEnvironment();
  std::vector<AlgorithmSpec> chosen;
  if (names.empty()) {
    const auto all = allAlgorithms(environment);
    std::copy_if(all.begin(),
                 all.end(),
                 std::back_inserter(chosen),
                 [&](const AlgorithmSpec& spec) {
                   return spec.byDefault && whyNot(spec, ranks).empty();
                 });
  }
  for (const auto& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1) {
      throw std::invalid_argument(name + ": name each algorithm only once");
    }
    chosen.push_back(named(name, environment, ranks));
  }
  return chosen;
}

}  // namespace compare
}  // namespace gloo
