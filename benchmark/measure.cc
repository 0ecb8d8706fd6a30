// SPDX-License-Identifier: Apache-2.0
//
// Runs one simulated job and prints its measurements, for benchmark/ablate and
// benchmark/simulate.

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmark/peak_memory.h"
#include "transport_ubt/kernels/reduction_kernels.h"
#include "transport_ubt/sim/exact_job.h"
#include "transport_ubt/sim/message_graph.h"
#include "transport_ubt/sim/world.h"

namespace ubt::sim {
namespace {

constexpr char kBounded[] = "optireduce";

nlohmann::json milliseconds(const std::vector<Duration>& times) {
  nlohmann::json list = nlohmann::json::array();
  for (const Duration time : times) {
    list.push_back(std::chrono::duration<double, std::milli>(time).count());
  }
  return list;
}

nlohmann::ordered_json reportOf(const SimOptions& options,
                                const SimResult& result) {
  nlohmann::ordered_json report;
  report["op_ms"] = milliseconds(result.opTimes);
  const double pairs = static_cast<double>(result.boundedOps) * options.ranks *
                       options.elementsMax;
  report["loss_fraction"] =
      pairs > 0 ? static_cast<double>(result.pairsMissing) / pairs : 0;
  const double elements = pairs / options.ranks;
  report["drift_fraction"] =
      pairs > 0 ? static_cast<double>(result.driftElements) / elements : 0;
  if (options.measureError) {
    report["mse"] = result.error.mean();
    report["worst_se"] = result.error.worst();
  }
  report["errors"] = result.errorTexts;
  report["violations"] = result.violations;
  return report;
}

nlohmann::ordered_json exactReport(const SimOptions& options,
                                   const std::string& algorithm) {
  const MessageGraph graph =
      MessageGraph::of(algorithm,
                       options.ranks,
                       sizeof(float) * uint64_t{options.elementsMax},
                       options.groups);
  nlohmann::ordered_json report;
  report["op_ms"] = milliseconds(ExactJob(options, graph).run());
  report["loss_fraction"] = 0;
  report["errors"] = nlohmann::json::array();
  report["violations"] = nlohmann::json::array();
  return report;
}

// Resources that this process has used.
void addCosts(nlohmann::ordered_json* report) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  constexpr double kMicro = 1e-6;
  (*report)["cpu_seconds"] =
      static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
      kMicro *
          static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  (*report)["peak_bytes"] = benchmark::peakResidentBytes();
}

int run(const std::string& algorithm, const std::string& text) {
  SimOptions options = SimOptions::parse(text);
  if (!options.oneShape) {
    throw std::invalid_argument(
        "one_shape: has to be 1, for what is printed "
        "is of ops of one size");
  }
  options.measureError = !options.noData;
  options.checkResults = false;  // tests do this
  auto report =
      algorithm == kBounded
          ? reportOf(options, World(options, reductionKernels()).run())
          : exactReport(options, algorithm);
  addCosts(&report);
  std::cout << report.dump() << std::endl;
  return 0;
}

}  // namespace
}  // namespace ubt::sim

int main(int argc, char** argv) {
  CLI::App app(
      "Simulates one job and prints a JSON object: op_ms, the slowest rank's "
      "time of each bounded op, in milliseconds; loss_fraction of "
      "(contributor, "
      "element) pairs and drift_fraction of results' elements; mse and "
      "worst_se, squared errors relative to the mean square of exact sums "
      "(transport_ubt/sim/sum_error.h), but of no_data; errors that callers "
      "got; "
      "violations of docs/semantics.md; cpu_seconds and peak_bytes, what the "
      "simulation itself took.");
  std::string text;
  std::string algorithm = ubt::sim::kBounded;
  app.add_option("--algorithm",
                 algorithm,
                 "optireduce, or an exact one over ideal connections "
                 "(message_graph.h): op_ms and loss_fraction only");
  app.add_option("--options", text, "name=value ..., of sim_options.cc")
      ->required();
  CLI11_PARSE(app, argc, argv);
  try {
    return ubt::sim::run(algorithm, text);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << std::endl;
    return 2;
  }
}
