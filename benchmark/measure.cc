// SPDX-License-Identifier: Apache-2.0
//
// Runs one simulated job and prints its measurements, for benchmark/simulate.

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/peak_memory.h"
#include "benchmark/simulated_algorithm.h"
#include "transport_ubt/kernels/reduction_kernels.h"
#include "transport_ubt/sim/exact_job.h"
#include "transport_ubt/sim/world.h"
#include "transport_ubt/trace/trace_file.h"

namespace ubt::sim {
namespace {

using gloo::compare::AlgorithmName;

int listAlgorithms(const std::vector<std::string>& wanted,
                   int ranks,
                   int groups) {
  nlohmann::ordered_json list;
  for (const auto& text : wanted) {
    const auto name = AlgorithmName::parse(text);
    checkSimulated(name, ranks, groups);
    list["chosen"][text] = name.variables();
  }
  list["left_out"] = nlohmann::json::object();
  std::cout << list.dump() << std::endl;
  return 0;
}

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
  report["step_ms"] = milliseconds(result.stepTimes);
  const double pairs = static_cast<double>(result.boundedOps) * options.ranks *
                       options.elementsMax;
  report["loss_fraction"] =
      pairs > 0 ? static_cast<double>(result.pairsMissing) / pairs : 0;
  const double elements = pairs / options.ranks;
  report["cut_fraction"] = pairs > 0
                               ? static_cast<double>(result.leftOutBytes) /
                                     (sizeof(float) * elements)
                               : 0;
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
  nlohmann::ordered_json report;
  // Callers begin together, so an op is a step.
  report["op_ms"] = milliseconds(exactTimes(options, algorithm));
  report["step_ms"] = report["op_ms"];
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

// Writes the files of GLOO_UBT_TRACE.
void writeTraces(const std::string& folder, const SimResult& result) {
  std::map<std::pair<int, int>, TraceFile> files;
  for (const auto& trace : result.traces) {
    TraceFile& file = files
                          .try_emplace({trace.context, trace.rank},
                                       folder,
                                       trace.context,
                                       trace.rank,
                                       Duration{0})
                          .first->second;
    file.add(trace.op, trace.bytes, *trace.arrivals);
    if (!file.ok()) {
      throw std::invalid_argument("--trace: cannot write " + file.path() +
                                  ": does the folder exist?");
    }
  }
}

int run(const std::string& algorithm,
        const std::string& text,
        const std::string& traceFolder) {
  SimOptions options = SimOptions::parse(text);
  const auto name = AlgorithmName::parse(algorithm);
  checkSimulated(name, options.ranks, options.groups);
  options = withSettings(options, name);
  if (!options.oneShape) {
    throw std::invalid_argument(
        "one_shape: has to be 1, for what is printed "
        "is of ops of one size");
  }
  options.measureError = !options.noData;
  options.checkResults = false;  // tests do this
  nlohmann::ordered_json report;
  if (isSimulatedByCore(name)) {
    options.protocol.trace = !traceFolder.empty();
    const SimResult result = World(options, reductionKernels()).run();
    writeTraces(traceFolder, result);
    report = reportOf(options, result);
  } else {
    report = exactReport(options, name.algorithm);
  }
  addCosts(&report);
  std::cout << report.dump() << std::endl;
  return 0;
}

}  // namespace
}  // namespace ubt::sim

int main(int argc, char** argv) {
  CLI::App app(
      "Simulates one job and prints a JSON object. op_ms: the slowest rank's "
      "time of each bounded op, in milliseconds. step_ms: from the end of the "
      "op before to its end; an op ends once half of the ranks have returned. "
      "loss_fraction: of (contributor, element) pairs. cut_fraction: of these, "
      "left out and not lost. drift_fraction: of results' elements. mse and "
      "worst_se, unless no_data is set: squared "
      "errors, relative to the mean square of exact sums "
      "(transport_ubt/sim/sum_error.h). errors: those of callers. violations: "
      "of docs/semantics.md. cpu_seconds, peak_bytes: of the simulation "
      "itself.");
  std::string text;
  std::string traceFolder;
  std::vector<std::string> algorithms = {};
  int ranks = 1;
  int groups = 1;
  app.add_option(
         "--algorithms",
         algorithms,
         "a bounded one, with settings such as +auth=full, or an exact "
         "one (message_graph.h), over ideal connections or, with tcp=1, "
         "over TCP: these have "
         "times and loss_fraction only")
      ->delimiter(',');
  app.add_option("--size", ranks, "ranks, to list")->check(CLI::PositiveNumber);
  app.add_option("--groups", groups, "groups, to list")
      ->check(CLI::PositiveNumber);
  auto* const lists = app.add_flag("--list-algorithms",
                                   "check --algorithms and --options, print "
                                   "names, and end");
  app.add_option("--options", text, "name=value ..., of sim_options.cc");
  app.add_option("--trace",
                 traceFolder,
                 "folder for records of optireduce's stages, as "
                 "GLOO_UBT_TRACE writes them; it must exist");
  CLI11_PARSE(app, argc, argv);
  try {
    if (lists->count() > 0) {
      ubt::sim::SimOptions::parse(text);  // throws if one is wrong
      return ubt::sim::listAlgorithms(algorithms, ranks, groups);
    }
    if (algorithms.size() != 1) {
      throw std::invalid_argument("--algorithms: name one");
    }
    return ubt::sim::run(algorithms[0], text, traceFolder);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << std::endl;
    return 2;
  }
}
