// SPDX-License-Identifier: Apache-2.0
//
// Looks for violations of the protocol's promises under random faults.

#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>

#include "transport_ubt/core/base/percentile.h"
#include "transport_ubt/sim/causes.h"
#include "transport_ubt/sim/world.h"

namespace {

// Prints the times of bounded ops, in milliseconds.
void printTimes(const ubt::sim::SimResult& result) {
  if (result.opTimes.empty()) {
    return;
  }
  const auto at = [&](double share) {
    return std::chrono::duration<double, std::milli>(
               ubt::percentile(result.opTimes, share))
        .count();
  };
  const double mean =
      std::chrono::duration<double, std::milli>(
          std::accumulate(
              result.opTimes.begin(), result.opTimes.end(), ubt::Duration{0}))
          .count() /
      static_cast<double>(result.opTimes.size());
  std::printf("  slowest rank's ms: mean %.2f, p50 %.2f, p90 %.2f, p99 %.2f\n",
              mean,
              at(0.5),
              at(0.9),
              at(0.99));
}

// Prints for each fault the number of ops whose job had it.
void printReached(const std::map<ubt::sim::Fault, uint64_t>& reached) {
  for (size_t i = 0; i < static_cast<size_t>(ubt::sim::Fault::kFaults); i++) {
    const auto fault = static_cast<ubt::sim::Fault>(i);
    const auto found = reached.find(fault);
    std::printf("  %-18s %" PRIu64 "\n",
                faultName(fault),
                found == reached.end() ? 0 : found->second);
  }
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t ops = 20000;
  uint64_t seed = 1;
  bool replay = false;
  std::string text;
  CLI::App app(
      "Simulates jobs with options drawn from consecutive seeds and checks "
      "every op. A violation prints its seed and options; repeat it with "
      "--replay --seed S, or with --replay --options 'the printed options'.");
  app.add_option("--ops", ops, "stop after this many ops")
      ->capture_default_str();
  app.add_option("--seed", seed, "the first seed")->capture_default_str();
  auto* const replays =
      app.add_flag("--replay", replay, "run only this seed, and print details");
  app.add_option(
         "--options", text, "with --replay: these options instead of a seed's")
      ->needs(replays);
  CLI11_PARSE(app, argc, argv);

  uint64_t done = 0;
  int failed = 0;
  int seeds = 0;
  int mayFail = 0;
  std::map<ubt::sim::Fault, uint64_t> reached;
  do {
    const auto options = replay && !text.empty()
                             ? ubt::sim::SimOptions::parse(text)
                             : ubt::sim::SimOptions::fromSeed(seed);
    const auto result = ubt::sim::World(options).run();
    done += result.ops;
    seeds++;
    mayFail += ubt::sim::Causes(options).any();
    for (size_t i = 0; i < static_cast<size_t>(ubt::sim::Fault::kFaults); i++) {
      const auto fault = static_cast<ubt::sim::Fault>(i);
      reached[fault] += result.faults.get(fault) > 0 ? result.ops : 0;
    }
    if (!result.violations.empty() || replay) {
      std::printf("%s\n", options.str().c_str());
    }
    for (const auto& violation : result.violations) {
      std::printf("  VIOLATION %s\n", violation.c_str());
    }
    failed += !result.violations.empty();
    if (replay) {
      std::printf("  %" PRIu64 " ops, %" PRIu64 " bounded, %" PRIu64
                  " errors, %" PRIu64 " pairs missing, %" PRIu64 " drifted\n",
                  result.ops,
                  result.boundedOps,
                  result.errors,
                  result.pairsMissing,
                  result.driftElements);
      printTimes(result);
      for (const auto& text : result.errorTexts) {
        std::printf("  error: %s\n", text.c_str());
      }
      for (size_t i = 0; i < static_cast<size_t>(ubt::Counter::kCounters);
           i++) {
        const auto counter = static_cast<ubt::Counter>(i);
        std::printf("  %-18s %" PRIu64 "\n",
                    ubt::counterName(counter),
                    result.counters.get(counter));
      }
    }
    seed++;
  } while (!replay && done < ops);
  std::printf("ops of jobs with each fault:\n");
  printReached(reached);
  std::printf("%d seeds; calls may fail in %d of them\n", seeds, mayFail);
  std::printf("%" PRIu64 " ops checked, %d seeds failed\n", done, failed);
  return failed == 0 ? 0 : 1;
}
