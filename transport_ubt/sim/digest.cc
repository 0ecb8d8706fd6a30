// SPDX-License-Identifier: Apache-2.0
//
// Prints two hashes of everything that simulated jobs did. A change that only
// moves code must not change them.

#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "transport_ubt/sim/run_digest.h"
#include "transport_ubt/sim/world.h"

int main(int argc, char** argv) {
  uint64_t ops = 20000;
  uint64_t seed = 1;
  bool each = false;
  CLI::App app(
      "Simulates jobs with options drawn from consecutive seeds and prints two "
      "digests: of results, reports and failures, and of traffic (datagrams "
      "and counters). A change that only moves code keeps both.");
  app.add_option("--ops", ops, "stop after this many ops")
      ->capture_default_str();
  app.add_option("--seed", seed, "the first seed")->capture_default_str();
  app.add_flag("--each",
               each,
               "print both after each seed: the first line that differs from "
               "the other build's names the seed to look at");
  CLI11_PARSE(app, argc, argv);

  ubt::sim::RunDigest digest;
  uint64_t done = 0;
  for (; done < ops; seed++) {
    done += ubt::sim::World(ubt::sim::SimOptions::fromSeed(seed), &digest)
                .run()
                .ops;
    if (each) {
      std::printf("seed %" PRIu64 " results %016" PRIx64 " traffic %016" PRIx64
                  "\n",
                  seed,
                  digest.results(),
                  digest.traffic());
    }
  }
  std::printf("%" PRIu64 " ops, results %016" PRIx64 ", traffic %016" PRIx64
              "\n",
              done,
              digest.results(),
              digest.traffic());
  return 0;
}
