// SPDX-License-Identifier: Apache-2.0
#include "benchmark/simulated_algorithm.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "transport_ubt/config/nearest.h"
#include "transport_ubt/config/settings.h"
#include "transport_ubt/sim/message_graph.h"

namespace ubt::sim {

using gloo::compare::AlgorithmName;

namespace {

constexpr char kBounded[] = "optireduce";
constexpr char kBoundedInGroups[] = "hierarchical_optireduce";

// Settings of sockets, processes and files, which nothing here has, and those
// that --options has under other names.
constexpr const char* kNotSimulated[] = {"experiment",
                                         "fault",
                                         "groups",
                                         "gso",
                                         "handshake_timeout",
                                         "linger",
                                         "min_bytes",
                                         "mtu",
                                         "nap",
                                         "ports",
                                         "redis_password",
                                         "redis_password_file",
                                         "report",
                                         "secret",
                                         "secret_file",
                                         "trace",
                                         "warmup_ops",
                                         "yield"};

std::vector<std::string> knownAlgorithms() {
  std::vector<std::string> names(std::begin(MessageGraph::kNames),
                                 std::end(MessageGraph::kNames));
  for (const auto* const policy : {"", ":none", ":broadcast", ":both"}) {
    names.push_back(std::string(kBounded) + policy);
    names.push_back(std::string(kBoundedInGroups) + policy);
  }
  return names;
}

// Why the algorithm cannot work; empty if it can.
std::string whyNot(const std::string& algorithm, int ranks, int groups) {
  if (MessageGraph::needsPowerOf2(algorithm) && (ranks & (ranks - 1)) != 0) {
    return "needs a power of 2 ranks, not " + std::to_string(ranks);
  }
  if (algorithm.rfind("hierarchical_", 0) == 0 && ranks % groups != 0) {
    return "needs ranks that --groups " + std::to_string(groups) +
           " divides, not " + std::to_string(ranks);
  }
  return "";
}

}  // namespace

bool isSimulatedByCore(const AlgorithmName& name) {
  return name.algorithm == kBounded || name.algorithm == kBoundedInGroups;
}

SimOptions withSettings(SimOptions options, const AlgorithmName& name) {
  for (const auto* const other : kNotSimulated) {
    if (name.sets(other)) {
      throw std::invalid_argument(name.text +
                                  ": the simulator has no setting " + other);
    }
  }
  Settings settings;
  settings.protocol = options.protocol;
  settings.arenaBytes = options.arenaBytes;
  settings.windowBytes = options.windowBytes;
  settings = name.over(settings);
  const auto warmupOps = options.protocol.warmupOps;
  options.protocol = settings.protocol;
  options.protocol.warmupOps = warmupOps;
  options.arenaBytes = settings.arenaBytes;
  options.windowBytes = settings.windowBytes;
  return options;
}

void checkSimulated(const AlgorithmName& name, int ranks, int groups) {
  const auto known = knownAlgorithms();
  if (std::count(known.begin(), known.end(), name.algorithm) == 0) {
    std::string all;
    for (const auto& each : known) {
      all += (all.empty() ? "" : ", ") + each;
    }
    throw std::invalid_argument(
        "there is no algorithm '" + name.algorithm + "'; did you mean " +
        ubt::nearest(name.algorithm, known) + "? There are: " + all);
  }
  if (!isSimulatedByCore(name) && !name.settings.empty()) {
    throw std::invalid_argument(name.text + ": " + name.algorithm +
                                " takes no settings; optireduce does");
  }
  const auto reason = whyNot(name.algorithm, ranks, groups);
  if (!reason.empty()) {
    throw std::invalid_argument(name.text + " " + reason);
  }
  withSettings({}, name);
}

}  // namespace ubt::sim
