// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sim_options.h"

#include <random>
#include <sstream>

namespace ubt::sim {

std::string SimOptions::str() const {
  std::ostringstream text;
  const auto ms = [](Duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
  };
  text << "seed=" << seed << " ranks=" << ranks << " contexts=" << contexts
       << " threads=" << threads << " ops=" << ops
       << " elements_max=" << elementsMax << " slot_bytes=" << slotBytes
       << " arena_bytes=" << arenaBytes << " window_bytes=" << windowBytes
       << " repair=" << static_cast<int>(protocol.repair)
       << " fill=" << static_cast<int>(protocol.fill)
       << " order=" << static_cast<int>(protocol.order)
       << " auth=" << static_cast<int>(protocol.auth)
       << " rough=" << roughInputs << " warmup_ops=" << protocol.warmupOps
       << " bound_ms=" << ms(protocol.boundScatter)
       << " timeout_ms=" << ms(protocol.timeout) << " loss=" << loss
       << " duplicate=" << duplicate << " reorder=" << reorder
       << " delay_us=" << ms(delay) * 1000
       << " bytes_per_second=" << bytesPerSecond
       << " queue_bytes=" << queueBytes << " partition_ms=" << ms(partitionAt)
       << "+" << ms(partitionFor) << " late_ops=" << lateOps
       << " never_enters=" << neverEnters << " crashes=" << crashes << "@"
       << ms(crashAt) << "ms";
  return text.str();
}

SimOptions SimOptions::fromSeed(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return random() % n; };
  const auto chance = [&](double p) {
    return std::uniform_real_distribution<>()(random) < p;
  };
  SimOptions o;
  o.seed = seed;
  o.ranks = 2 + static_cast<int>(below(7));
  o.contexts = chance(0.2) ? 2 : 1;
  o.threads = chance(0.25) ? 2 : 1;
  o.ops = 10 + static_cast<int>(below(30));
  o.elementsMax = chance(0.2) ? 20 : 1000 + below(30000);
  o.slotBytes = chance(0.3) ? 8192 : 1408;
  o.arenaBytes = chance(0.2) ? 64 << 10 : 8 << 20;
  o.windowBytes = chance(0.3) ? 16 << 10 : 256 << 10;
  o.protocol.repair = static_cast<RepairPolicy>(below(3));
  o.protocol.fill = static_cast<Fill>(below(2));
  o.protocol.warmupOps = static_cast<uint32_t>(below(6));
  if (chance(0.5)) {
    o.protocol.boundScatter = o.protocol.boundBroadcast =
        std::chrono::milliseconds(5 + below(20));
    o.protocol.warmupOps = static_cast<uint32_t>(below(2) * 3);
  }
  o.protocol.timeout = std::chrono::seconds(5);
  const double losses[] = {0, 0, 0.001, 0.01, 0.05, 0.3};
  o.loss = losses[below(6)];
  o.duplicate = chance(0.3) ? 0.02 : 0;
  o.reorder = chance(0.3) ? 0.05 : 0;
  o.delay = std::chrono::microseconds(5 + below(200));
  if (chance(0.3)) {
    o.bytesPerSecond = 6.25e7;
    o.queueBytes = 64 << 10;
  }
  if (chance(0.1)) {
    o.partitionAt = std::chrono::milliseconds(10 + below(50));
    o.partitionFor = std::chrono::milliseconds(1 + below(100));
  }
  o.lateOps = chance(0.3) ? 0.1 : 0;
  if (chance(0.1)) {
    o.crashes = static_cast<int>(below(o.ranks));
    o.crashAt = std::chrono::microseconds(below(60000));
  }
  if (chance(0.05)) {
    o.neverEnters = static_cast<int>(below(o.ranks));
  }
  o.protocol.order = static_cast<SumOrder>(below(2));
  o.roughInputs = chance(0.5);
  o.protocol.auth = static_cast<AuthMode>(below(3));
  return o;
}

}  // namespace ubt::sim
