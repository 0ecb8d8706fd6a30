// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sim_options.h"

#include <map>
#include <sstream>
#include <stdexcept>
#include <type_traits>

namespace ubt::sim {
namespace {

constexpr Duration kMoment = std::chrono::microseconds(50);

// Every member, by name: what is printed is what can be read back. Durations
// in nanoseconds.
template <typename Options, typename Visitor>
void visit(Options& o, Visitor&& member) {
  member("seed", o.seed);
  member("ranks", o.ranks);
  member("groups", o.groups);
  member("contexts", o.contexts);
  member("threads", o.threads);
  member("ops", o.ops);
  member("elements_max", o.elementsMax);
  member("one_shape", o.oneShape);
  member("slot_bytes", o.slotBytes);
  member("arena_bytes", o.arenaBytes);
  member("window_bytes", o.windowBytes);
  member("window_bytes_min", o.windowBytesMin);
  member("window_adapts", o.windowAdapts);
  member("trains_adapt", o.trainsAdapt);
  member("repair", o.protocol.repair);
  member("fill", o.protocol.fill);
  member("order", o.protocol.order);
  member("auth", o.protocol.auth);
  member("hadamard", o.protocol.hadamard);
  member("multicast", o.protocol.multicast);
  member("mixed_forms", o.mixedForms);
  member("bound_mode", o.protocol.boundMode);
  member("results_first", o.protocol.resultsFirst);
  member("early", o.protocol.early);
  member("early_share", o.protocol.earlyShare);
  member("marks", o.protocol.marks);
  member("warmup_ops", o.protocol.warmupOps);
  member("bound_scatter_ns", o.protocol.boundScatter);
  member("bound_broadcast_ns", o.protocol.boundBroadcast);
  member("skip_loss", o.protocol.skipLoss);
  member("zero_loss", o.protocol.zeroLoss);
  member("halt_loss", o.protocol.haltLoss);
  member("lead_ops", o.protocol.leadOps);
  member("lead_bytes", o.protocol.leadBytes);
  member("timeout_ns", o.protocol.timeout);
  member("rough_inputs", o.roughInputs);
  member("check_results", o.checkResults);
  member("measure_error", o.measureError);
  member("no_data", o.noData);
  member("timing_seed", o.timingSeed);
  member("loss", o.loss);
  member("loss_at_ns", o.lossAt);
  member("loss_for_ns", o.lossFor);
  member("duplicate", o.duplicate);
  member("reorder", o.reorder);
  member("reorder_by_ns", o.reorderBy);
  member("strangers", o.strangers);
  member("delay_ns", o.delay);
  member("path_delay_ns", o.pathDelay);
  member("path_tail", o.pathTail);
  member("path_every_ns", o.pathEvery);
  member("bytes_per_second", o.bytesPerSecond);
  member("queue_bytes", o.queueBytes);
  member("socket_bytes", o.socketBytes);
  member("deaf_ranks", o.deafRanks);
  member("deaf_at_ns", o.deafAt);
  member("deaf_time_ns", o.deafTime);
  member("burst_every_ns", o.burstEvery);
  member("burst_least_ns", o.burstLeast);
  member("burst_most_ns", o.burstMost);
  member("burst_sources", o.burstSources);
  member("burst_share", o.burstShare);
  member("partition_at_ns", o.partitionAt);
  member("partition_for_ns", o.partitionFor);
  member("late_ops", o.lateOps);
  member("late_rank", o.lateRank);
  member("late_by_ns", o.lateBy);
  member("opposite", o.opposite);
  member("wakes_every_ns", o.wakesEvery);
  member("lateness_ns", o.lateness);
  member("slow", o.slow);
  member("slow_by_ns", o.slowBy);
  member("never_enters", o.neverEnters);
  member("crashes", o.crashes);
  member("crash_at_ns", o.crashAt);
  member("crash_seen_after_ns", o.crashSeenAfter);
  member("crash_seen_spread_ns", o.crashSeenSpread);
  member("deaf_for_ns", o.deafFor);
  member("disagrees", o.disagrees);
  member("otherwise", o.otherwise);
  member("error_ends", o.errorEnds);
}

template <typename T>
void write(std::ostream& out, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    out << static_cast<int>(value);
  } else {
    out << value;
  }
}

void write(std::ostream& out, const Duration& value) {
  out << value.count();
}

template <typename T>
void read(std::istream& in, T* value) {
  if constexpr (std::is_enum_v<T>) {
    int number = 0;
    in >> number;
    *value = static_cast<T>(number);
  } else {
    in >> *value;
  }
}

void read(std::istream& in, Duration* value) {
  Duration::rep count = 0;
  in >> count;
  *value = Duration(count);
}

}  // namespace

Duration SimOptions::computing(int rank, std::mt19937_64& random) const {
  Duration time{static_cast<int64_t>(random() % kMoment.count())};
  if (std::uniform_real_distribution<>()(random) < lateOps &&
      (lateRank < 0 || lateRank == rank)) {
    time += lateBy;
  }
  return time;
}

std::string SimOptions::str() const {
  std::ostringstream text;
  text.precision(17);
  visit(*this, [&](const char* name, const auto& value) {
    text << (text.tellp() > 0 ? " " : "") << name << "=";
    write(text, value);
  });
  return text.str();
}

SimOptions SimOptions::parse(const std::string& text) {
  std::map<std::string, std::string> values;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      throw std::invalid_argument(word + ": expected name=value");
    }
    values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  SimOptions options;
  visit(options, [&](const char* name, auto& value) {
    const auto found = values.find(name);
    if (found == values.end()) {
      return;
    }
    std::istringstream in(found->second);
    read(in, &value);
    if (in.fail()) {
      throw std::invalid_argument(found->first + "=" + found->second +
                                  ": no value for it");
    }
    values.erase(found);
  });
  if (!values.empty()) {
    throw std::invalid_argument(values.begin()->first + ": no such option");
  }
  return options;
}

SimOptions SimOptions::fromSeed(uint64_t seed) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return random() % n; };
  const auto chance = [&](double p) {
    return std::uniform_real_distribution<>()(random) < p;
  };
  SimOptions o;
  o.seed = seed;
  const auto someRank = [&] { return static_cast<int>(below(o.ranks)); };
  o.ranks = 2 + static_cast<int>(below(7));
  o.contexts = chance(0.2) ? 2 : 1;
  o.threads = chance(0.3) ? 2 + static_cast<int>(below(5)) : 1;
  o.ops = 10 + static_cast<int>(below(30));
  o.elementsMax = chance(0.2) ? 20 : 500 + below(chance(0.1) ? 30000 : 5000);
  const size_t slots[] = {64, 256, 1440, 1440, 8192};
  o.slotBytes = slots[below(o.elementsMax > 6000 ? 3 : 5) +
                      (o.elementsMax > 6000 ? 2 : 0)];
  o.arenaBytes = chance(0.2) ? 64 << 10 : 8 << 20;
  o.windowBytes = chance(0.3) ? 16 << 10 : 256 << 10;
  o.protocol.repair = static_cast<RepairPolicy>(below(3));
  o.protocol.fill = static_cast<Fill>(below(2));
  o.protocol.order = static_cast<SumOrder>(below(2));
  o.protocol.auth = static_cast<AuthMode>(below(3));
  o.protocol.boundMode = static_cast<BoundMode>(below(2));
  o.protocol.warmupOps = static_cast<uint32_t>(below(6));
  if (chance(0.5)) {
    o.protocol.boundScatter = milliseconds(5 + below(20));
    o.protocol.boundBroadcast = milliseconds(5 + below(20));
    o.protocol.warmupOps = static_cast<uint32_t>(below(2) * 3);
  }
  below(6);  // unused: so that what a seed draws after it stays the same
  o.protocol.leadOps = 1 + static_cast<uint32_t>(below(8));
  if (chance(0.2)) {
    o.protocol.leadBytes = 1 + below(100000);
  }
  o.protocol.timeout = std::chrono::seconds(5);
  o.roughInputs = chance(0.5);
  const double losses[] = {0, 0, 0.001, 0.01, 0.05, 0.3};
  o.loss = losses[below(6)];
  o.duplicate = chance(0.3) ? 0.02 : 0;
  o.reorder = chance(0.3) ? 0.05 : 0;
  o.reorderBy = microseconds(1 + below(1000));
  o.strangers = chance(0.2) ? 0.05 : 0;
  o.delay = microseconds(5 + below(200));
  if (chance(0.3)) {
    o.bytesPerSecond = 6.25e7;
    o.queueBytes = 64 << 10;
  }
  if (chance(0.1)) {
    o.partitionAt = milliseconds(10 + below(50));
    o.partitionFor = milliseconds(1 + below(100));
  }
  o.lateOps = chance(0.3) ? 0.1 : 0;
  o.lateBy = milliseconds(1 + below(250));
  o.opposite = chance(0.2);
  if (chance(0.15)) {
    o.slow = someRank();
    o.slowBy = microseconds(5 + below(300));
  }
  if (chance(0.1)) {
    o.crashes = someRank();
    o.crashAt = microseconds(below(60000));
    o.crashSeenAfter = microseconds(below(20000));
    o.crashSeenSpread = microseconds(below(2) * below(20000));
  }
  if (chance(0.05)) {
    o.neverEnters = someRank();
  }
  if (chance(0.1)) {
    o.deafFor = microseconds(below(100000));
  }
  if (chance(0.03)) {
    o.disagrees = someRank();
  } else if (chance(0.03)) {
    o.otherwise = someRank();
  }
  o.errorEnds = chance(0.5);
  if (chance(0.2)) {
    o.protocol.skipLoss = chance(0.5) ? 0.001 : 0.05;
  }
  if (chance(0.3)) {
    o.protocol.zeroLoss = chance(0.5) ? 0 : 0.05;
  }
  if (chance(0.2)) {
    o.protocol.haltLoss = chance(0.5) ? 0 : 0.02;
  }
  o.protocol.early = chance(0.8);
  o.protocol.hadamard = static_cast<Hadamard>(below(3));
  o.mixedForms = chance(0.3);
  o.protocol.multicast = chance(0.5);
  if (chance(0.5)) {
    o.deafRanks = static_cast<uint32_t>(below(uint64_t{1} << o.ranks));
    if (chance(0.5)) {
      o.deafAt = milliseconds(below(200));
      o.deafTime = milliseconds(below(200));
    }
  }
  if (chance(0.4)) {
    do {
      o.groups = 2 + static_cast<int>(below(o.ranks - 1));
    } while (o.ranks % o.groups != 0);
  }
  o.protocol.resultsFirst = chance(0.8);
  o.protocol.marks = chance(0.8);
  o.protocol.earlyShare = chance(0.2) ? 0.01 * (1 + below(100)) : 0;
  o.windowAdapts = chance(0.8);
  o.trainsAdapt = chance(0.8);
  if (chance(0.2)) {
    o.lossAt = milliseconds(below(200));
    o.lossFor = milliseconds(1 + below(200));
  }
  if (o.bytesPerSecond < 1e8 && chance(0.5)) {
    o.burstEvery = milliseconds(1 + below(200));
    o.burstLeast = o.burstEvery / 10;
    o.burstMost = o.burstLeast * (1 + below(4));
    o.burstSources = 1 + static_cast<int>(below(std::min(2, o.ranks - 1)));
    o.burstShare = 0.1 + 0.1 * below(10);
  }
  return o;
}

}  // namespace ubt::sim
