// SPDX-License-Identifier: Apache-2.0
//
// Looks for an order of events that breaks one of the protocol's promises.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <string>

#include "tests/chooser/explorer.h"

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int replay(const ubt::chooser::JobOptions& options, const std::string& text) {
  ubt::chooser::Schedule schedule;
  if (!ubt::chooser::fromText(text, &schedule)) {
    std::fprintf(stderr, "not a schedule: %s\n", text.c_str());
    return 2;
  }
  ubt::chooser::SmallJob job(options);
  job.trace();
  return job.run(schedule, nullptr).empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  ubt::chooser::JobOptions options;
  int deviations = 2;
  double seconds = 60;
  uint32_t part = 0;
  uint32_t parts = 1;
  std::string text;
  std::string repair = "broadcast";
  const std::map<std::string, ubt::RepairPolicy> policies = {
      {"none", ubt::RepairPolicy::kNone},
      {"broadcast", ubt::RepairPolicy::kBroadcast},
      {"both", ubt::RepairPolicy::kBoth}};
  CLI::App app(
      "Runs a small job of the real protocol core under every order of events "
      "with at most --deviations deviations from the usual order. A deviation "
      "loses, copies or delays a datagram, passes a deadline early, delays a "
      "call, closes a connection, ends or stops a rank, or fails an "
      "allocation. A violation prints its schedule. Repeat it with the same "
      "options and --replay SCHEDULE.");
  app.add_option("--ranks", options.ranks, "2 to 4")
      ->check(CLI::Range(2, 4))
      ->capture_default_str();
  app.add_option("--slots", options.slots, "slots of a shard")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.add_option("--ops", options.ops, "allreduces of each rank")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.add_option("--repair", repair, "what is asked for again")
      ->check(CLI::IsMember(policies))
      ->capture_default_str();
  app.add_flag("--exact", options.exact, "ops of warm-up");
  app.add_option("--arena-bytes", options.arenaBytes, "of each rank")
      ->capture_default_str();
  app.add_option("--window-bytes", options.windowBytes, "of each rank")
      ->capture_default_str();
  app.add_option("--drops", options.drops, "datagrams lost in a run, at most")
      ->capture_default_str();
  app.add_option("--faults",
                 options.faults,
                 "connections closed, ranks dead and calls missed, at most")
      ->capture_default_str();
  app.add_option("--starves",
                 options.starves,
                 "allocations that fail in a run, at most; each is a fault")
      ->capture_default_str();
  app.add_option("--deviations", deviations, "at most")->capture_default_str();
  app.add_option("--seconds", seconds, "stop after that time")
      ->capture_default_str();
  app.add_option("--part", part, "explore one of --parts equal parts")
      ->capture_default_str();
  app.add_option("--parts", parts, "of how many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--replay", text, "run this schedule only, and tell all");
  CLI11_PARSE(app, argc, argv);
  options.repair = policies.at(repair);

  if (app.count("--replay") > 0) {
    return replay(options, text);
  }
  ubt::chooser::Explorer explorer(options);
  const Clock::time_point start = Clock::now();
  const auto stop = [&] { return secondsSince(start) > seconds; };
  bool whole = true;
  for (int i = 0; i <= deviations && whole; i++) {
    const uint64_t before = explorer.schedules();
    whole = explorer.explore(i, stop, part, parts);
    std::printf("%d deviations: %" PRIu64 " schedules%s\n",
                i,
                explorer.schedules() - before,
                whole ? "" : " (not all)");
    std::fflush(stdout);
  }
  const double took = secondsSince(start);
  std::printf("%" PRIu64 " schedules, %" PRIu64 " steps, %.1f s, %.0f/s\n",
              explorer.schedules(),
              explorer.steps(),
              took,
              static_cast<double>(explorer.schedules()) / took);
  if (explorer.violation().empty()) {
    return 0;
  }
  std::printf("VIOLATION %s\n  --replay '%s'\n",
              explorer.violation().c_str(),
              ubt::chooser::toText(explorer.culprit()).c_str());
  return 1;
}
