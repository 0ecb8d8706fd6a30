// SPDX-License-Identifier: Apache-2.0
#include "benchmark/registry.h"

#include <fmt/format.h>

#include "transport_ubt/config/nearest.h"

namespace gloo {
namespace benchmark {

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
  std::vector<std::string> names;
  for (const auto& entry : benchmarks()) {
    if (entry.name == name) {
      return entry;
    }
    names.push_back(entry.name);
  }
  throw UsageError(fmt::format(
      "there is no benchmark '{}'; did you mean {}? --help lists all",
      name,
      ubt::nearest(name, names)));
}

std::string listBenchmarks() {
  std::string text;
  for (const auto& entry : benchmarks()) {
    text += fmt::format("  {:<34}{}\n", entry.name, entry.help);
  }
  return text;
}

}  // namespace benchmark
}  // namespace gloo
