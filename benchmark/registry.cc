// SPDX-License-Identifier: Apache-2.0
#include "benchmark/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gloo {
namespace benchmark {

namespace {

// Levenshtein's.
size_t editDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); j++) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

const Registry& benchmarks() {
  static const Registry registry = [] {
    Registry all;
    addAllgather(all);
    addAllreduce(all);
    addAlltoall(all);
    addBarrier(all);
    addBroadcast(all);
    addPairwiseExchange(all);
    addReduce(all);
    addScatter(all);
    addSendRecv(all);
    return all;
  }();
  return registry;
}

const Entry& findBenchmark(const std::string& name) {
  const Entry* nearest = nullptr;
  for (const auto& entry : benchmarks()) {
    if (entry.name == name) {
      return entry;
    }
    if (nearest == nullptr ||
        editDistance(name, entry.name) < editDistance(name, nearest->name)) {
      nearest = &entry;
    }
  }
  throw UsageError(fmt::format(
      "there is no benchmark '{}'; did you mean {}? --help lists all",
      name,
      nearest->name));
}

std::string listBenchmarks() {
  std::string text;
  for (const auto& entry : benchmarks()) {
    text += fmt::format("  {:<28}{}\n", entry.name, entry.help);
  }
  return text;
}

}  // namespace benchmark
}  // namespace gloo
