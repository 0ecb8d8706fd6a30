// SPDX-License-Identifier: Apache-2.0
//
// Replays the rule that ends stages over recorded ones.

#include "transport_ubt/trace/replay.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ubt {
namespace {

using Json = nlohmann::ordered_json;

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

Json jsonOf(const Replayed& replayed) {
  return {{"mean_ms", milliseconds(replayed.mean())},
          {"slow_tenth_ms", milliseconds(replayed.slowTenth())},
          {"cut_late", replayed.cutLate},
          {"cut_absent", replayed.cutAbsent}};
}

Json replayed(const std::vector<RecordedOp>& ops,
              const ReplayOptions& options) {
  const Replayed exact = replayExact(ops, options);
  const Replayed rule = replayRule(ops, options);
  const double factor = bestFactor(ops, options, rule.cutLate);
  const Replayed best = replayFixed(ops, options, factor);
  Json json;
  json["context"] = ops[0][0].context;
  json["ranks"] = ops[0].size();
  json["ops"] = exact.took.size();
  json["exact"] = jsonOf(exact);
  json["rule"] = jsonOf(rule);
  json["best_fixed"] = jsonOf(best);
  json["best_fixed"]["x"] = factor;
  const Duration possible = exact.slowTenth() - best.slowTenth();
  json["score"] =
      possible > Duration{0}
          ? Json(milliseconds(exact.slowTenth() - rule.slowTenth()) /
                 milliseconds(possible))
          : Json();
  return json;
}

int run(const std::vector<std::string>& files, const ReplayOptions& options) {
  std::vector<StageRecord> records;
  for (const std::string& path : files) {
    std::ifstream file(path);
    if (!file) {
      throw std::invalid_argument("cannot read " + path);
    }
    try {
      for (StageRecord& record : readRecords(&file)) {
        records.push_back(std::move(record));
      }
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(path + ", " + error.what());
    }
  }
  Json all = Json::array();
  for (const auto& ops : opsOf(records)) {
    if (ops.size() > options.warmupOps) {
      all.push_back(replayed(ops, options));
    }
  }
  if (all.empty()) {
    throw std::invalid_argument(
        "no context has more than " + std::to_string(options.warmupOps) +
        " ops that are complete and recorded by every rank: give the files of "
        "all ranks, of a run that left nothing out (docs/experiments.md)");
  }
  std::cout << all.dump(1) << std::endl;
  return 0;
}

}  // namespace
}  // namespace ubt

int main(int argc, char** argv) {
  CLI::App app(
      "Replays the rule that ends scatter stages over records of "
      "GLOO_UBT_TRACE, and prints for each context: times and cut shares "
      "without a rule, with the rule, and with the best constant x at the same "
      "cut. score: the rule's saving of the slowest tenth over that of the "
      "best constant x.");
  ubt::ReplayOptions options;
  std::vector<std::string> files;
  double latenessMs = 2;
  app.add_option("FILES", files, "of all ranks")->required();
  app.add_option("--budget", options.budget, "cut_budget (0.025)")
      ->check(CLI::Range(1e-6, 0.5));
  app.add_option("--lateness-ms", latenessMs, "of hosts (2)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--warmup", options.warmupOps, "exact ops (20)");
  CLI11_PARSE(app, argc, argv);
  options.lateness = ubt::wholeNanoseconds(
      std::chrono::duration<double, std::milli>(latenessMs));
  try {
    return ubt::run(files, options);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << std::endl;
    return 2;
  }
}
