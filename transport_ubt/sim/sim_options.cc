// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/sim_options.h"

#include <map>
#include <sstream>
#include <stdexcept>
#include <type_traits>

#include "transport_ubt/sim/inputs.h"

namespace ubt::sim {
namespace {

constexpr Duration kMoment = std::chrono::microseconds(50);

template <typename Faults, typename Visitor>
void visitFaults(Faults& f, Visitor&& member) {
  for (size_t i = 0; i < f.cuts.size(); i++) {
    const std::string cut = "cut" + std::to_string(i);
    member(cut + "_from", f.cuts[i].from);
    member(cut + "_to", f.cuts[i].to);
    member(cut + "_at_ns", f.cuts[i].at);
    member(cut + "_lasting_ns", f.cuts[i].lasting);
  }
  for (size_t i = 0; i < f.pauses.size(); i++) {
    const std::string pause = "pause" + std::to_string(i);
    member(pause + "_rank", f.pauses[i].rank);
    member(pause + "_at_ns", f.pauses[i].at);
    member(pause + "_lasting_ns", f.pauses[i].lasting);
  }
  member("lost_kind", f.kindLoss.kind);
  member("lost_kind_from", f.kindLoss.from);
  member("lost_kind_share", f.kindLoss.share);
  member("stingy", f.falseCredit.stingy);
  member("greedy", f.falseCredit.greedy);
  member("false_credit_at_ns", f.falseCredit.at);
  member("marks", f.marks.share);
  member("replay", f.replays.share);
  member("replay_within_ns", f.replays.within);
  member("corruption", f.corruption);
  member("wrong_result_rank", f.wrongResult.rank);
  member("wrong_result_at_ns", f.wrongResult.at);
  member("narrow_one", f.narrowPath.one);
  member("narrow_other", f.narrowPath.other);
  member("narrow_bytes", f.narrowPath.bytesMax);
  member("narrow_at_ns", f.narrowPath.at);
  member("narrow_lasting_ns", f.narrowPath.lasting);
  member("send_fails", f.sends.share);
  member("send_later_ns", f.sends.later);
  member("per_train_ns", f.inbox.perTrain);
  member("per_datagram_ns", f.inbox.perDatagram);
  member("inbox_bytes", f.inbox.bytesMax);
  member("inbox_polls", f.inbox.polls);
  member("inbox_polls_every_ns", f.inbox.pollsEvery);
  member("clock_offset_ns", f.clocks.offset);
  member("clock_rate", f.clocks.rate);
  member("clock_slew", f.clocks.slew);
  member("clock_slew_every_ns", f.clocks.slewEvery);
  member("skip_rank", f.skip.rank);
  member("skip_op", f.skip.op);
  member("closure_rank", f.closure.rank);
  member("closure_at_ns", f.closure.at);
  member("closure_lingers", f.closure.lingers);
  member("mesh_break_rank", f.meshBreak.rank);
  member("mesh_break_peer", f.meshBreak.peer);
  member("mesh_break_at_ns", f.meshBreak.at);
  member("mesh_break_both", f.meshBreak.both);
  member("crashes_second", f.afterCrash.second);
  member("crash_second_after_ns", f.afterCrash.secondAfter);
  member("crash_restarts", f.afterCrash.restarts);
  member("crash_restart_after_ns", f.afterCrash.restartAfter);
  member("unlike_window_ranks", f.unlike.windowRanks);
  member("unlike_window_bytes", f.unlike.windowBytes);
  member("unlike_link_ranks", f.unlike.linkRanks);
  member("unlike_link_share", f.unlike.linkShare);
  member("unlike_policy_ranks", f.unlike.policyRanks);
  member("unlike_repair", f.unlike.repair);
  member("unlike_order", f.unlike.order);
  member("unlike_warmup_ops", f.unlike.warmupOps);
  member("unlike_lead_ops", f.unlike.leadOps);
  member("shared_arena", f.sharedArena);
}

// Names every member. str() prints these names and parse() reads them.
// Durations are in nanoseconds.
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
  member("repair", o.protocol.repair);
  member("order", o.protocol.order);
  member("auth", o.protocol.auth);
  member("hadamard", o.protocol.hadamard);
  member("multicast", o.protocol.multicast);
  member("loops", o.protocol.loops);
  member("without", o.protocol.without);
  member("mixed_forms", o.mixedForms);
  member("cut_budget", o.protocol.cutBudget);
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
  member("mark_bytes", o.markBytes);
  member("socket_bytes", o.socketBytes);
  member("train_bytes", o.trainBytes);
  member("deaf_ranks", o.deafRanks);
  member("deaf_at_ns", o.deafAt);
  member("deaf_time_ns", o.deafTime);
  member("stall_gap_ns", o.stallGap);
  member("stall_least_ns", o.stallLeast);
  member("stall_most_ns", o.stallMost);
  member("burst_every_ns", o.burstEvery);
  member("burst_least_ns", o.burstLeast);
  member("burst_most_ns", o.burstMost);
  member("burst_sources", o.burstSources);
  member("burst_share", o.burstShare);
  member("tcp", o.tcp);
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
  visitFaults(o.faults, member);
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

void write(std::ostream& out, const LoopSet& value) {
  out << value.bits();
}

template <typename T>
void read(std::istream& in, T* value) {
  if constexpr (std::is_enum_v<T>) {
    int number = 0;
    in >> number;
    *value = static_cast<T>(number);
  } else if (std::is_unsigned_v<T> && in.peek() == '-') {
    in.setstate(std::ios::failbit);  // else it would be a large number
  } else {
    in >> *value;
  }
}

void read(std::istream& in, LoopSet* value) {
  uint32_t bits = 0;
  in >> bits;
  *value = LoopSet::ofBits(bits);
}

void read(std::istream& in, Duration* value) {
  Duration::rep count = 0;
  in >> count;
  *value = Duration(count);
}

}  // namespace

Duration SimOptions::computing(int rank, int caller, int op) const {
  const uint64_t place = uint64_t(rank) << 48 ^ uint64_t(caller) << 32 ^ op;
  const uint64_t bits = mix(mix(seed ^ timingSeed << 32) ^ mix(place));
  const bool late =
      unit(mix(bits)) <= lateOps && (lateRank < 0 || lateRank == rank);
  return Duration{static_cast<int64_t>(bits % kMoment.count())} +
         (late ? lateBy : Duration{0});
}

Options SimOptions::protocolOf(int rank) const {
  Options options = protocol;
  const Unlike& unlike = faults.unlike;
  if ((unlike.policyRanks >> rank & 1) != 0) {
    options.repair = unlike.repair;
    options.order = unlike.order;
    options.warmupOps = unlike.warmupOps;
    options.leadOps = unlike.leadOps;
  }
  if (rank == otherwise) {
    options.auth =
        options.auth == AuthMode::kAead ? AuthMode::kHeader : AuthMode::kAead;
  }
  if (!mayTransform(rank)) {
    options.hadamard = Hadamard::kNever;
  }
  return options;
}

uint64_t SimOptions::windowOf(int rank) const {
  return (faults.unlike.windowRanks >> rank & 1) != 0
             ? faults.unlike.windowBytes
             : windowBytes;
}

double SimOptions::bytesPerSecondOf(int rank) const {
  return (faults.unlike.linkRanks >> rank & 1) != 0
             ? bytesPerSecond * faults.unlike.linkShare
             : bytesPerSecond;
}

bool SimOptions::losesDatagrams() const {
  return loss > 0 || partitionFor > Duration{0} || burstEvery > Duration{0} ||
         stallGap > Duration{0} || slow >= 0 || faults.loseDatagrams();
}

bool SimOptions::mayHalt() const {
  const bool muchMayLack =
      protocol.haltLoss < 0.5 || protocol.boundScatter > Duration{0} ||
      loss >= 0.05 || lateOps > 0 || faults.loseDatagrams() ||
      (protocol.repair == RepairPolicy::kNone && groups > 1);
  return protocol.haltLoss > 0 && muchMayLack;
}

bool SimOptions::mayLackRoom() const {
  return arenaIsSmall() && (threads > 1 || losesDatagrams());
}

uint64_t SimOptions::withoutRepair() const {
  uint64_t bits = 0;
  for (int rank = 0; rank < ranks; rank++) {
    if (protocolOf(rank).repair == RepairPolicy::kNone) {
      bits |= uint64_t{1} << rank;
    }
  }
  return bits;
}

uint64_t SimOptions::mayDropResults() const {
  return arenaIsSmall() ? withoutRepair() : 0;
}

Duration SimOptions::fullSocket(int rank) const {
  constexpr double kTrainBytes = 64 << 10;  // it may take one more
  const double bytes = kTrainBytes + static_cast<double>(socketBytes);
  return Duration(static_cast<int64_t>(1e9 * bytes / bytesPerSecondOf(rank))) +
         faults.sends.later;
}

Duration SimOptions::backlogOfSlow() const {
  if (slow < 0) {
    return Duration{0};
  }
  const uint32_t lead = faults.unlike.policyRanks != 0
                            ? std::max(protocol.leadOps, faults.unlike.leadOps)
                            : protocol.leadOps;
  const int ops = contexts * (threads + static_cast<int>(lead));
  // Contributions, sums of other groups, results, and control packets about
  // them.
  const double slots = 1 + 1.0 * elementsMax * sizeof(double) / slotBytes;
  const double datagrams = (2 + groups) * slots + 4 * ranks;
  return Duration(static_cast<int64_t>(ops * datagrams * slowBy.count()));
}

Duration SimOptions::slowestCall(Duration bounds) const {
  using std::chrono::milliseconds;
  // The sum of the pauses between requests that get lost each time. They double
  // up to 1.6 s.
  constexpr Duration kPauses = 2 * milliseconds(1600);
  // Ranks may be late one after the other, and the next op is late because of
  // that.
  constexpr int kLateInARow = 6;
  // If most datagrams are lost, every op is slow and the time is not checked.
  // Groups without repair may lose sums on a network that loses nothing
  // (mostRanksCome()).
  const bool lost = losesDatagrams() || deafRanks != 0 ||
                    (groups > 1 && withoutRepair() != 0);
  if (lost && loss + faults.kindLoss.share > 0.2) {
    return Duration::max();
  }
  // A rank that never comes holds the others once the budget is spent.
  if (faults.skip.rank >= 0 || neverEnters >= 0) {
    return Duration::max();
  }
  const double rate =
      bytesPerSecond *
      (faults.unlike.linkRanks != 0 ? faults.unlike.linkShare : 1) *
      (1 - (burstEvery > Duration{0} ? std::min(0.9, burstShare) : 0));
  // All bytes that may be in flight to one rank, and the packets for each slot.
  const double calls = 1.0 * threads * contexts;
  const double bytes = calls * elementsMax * sizeof(double);
  const double slots = 2 * ranks * calls * (1 + bytes / calls / slotBytes);
  const auto seconds = [](double s) {
    return Duration(static_cast<int64_t>(s * 1e9));
  };
  Duration most =
      milliseconds(100) + bounds + deafFor +
      seconds(20 * ranks * bytes / rate) +
      static_cast<int>(slots) *
          (delay + faults.inbox.perTrain + faults.inbox.perDatagram +
           faults.sends.later + (slow >= 0 ? slowBy : Duration{0}));
  if (lateOps > 0 || opposite) {
    most += kLateInARow * lateBy;
  }
  // After a stop of this length, the next request may come as much later.
  Duration stops = partitionFor + burstMost + ranks * stallMost;
  for (const Cut& cut : faults.cuts) {
    stops += cut.lasting;
  }
  for (const Pause& pause : faults.pauses) {
    stops += pause.lasting;
  }
  stops += faults.narrowPath.lasting;
  stops += deafRanks != 0 ? milliseconds(200) : Duration{0};
  most += 3 * stops;
  // Data that the arena refused counts as lost, too.
  if (losesDatagrams() || arenaIsSmall()) {
    most += kPauses;
  }
  return most;
}

std::string SimOptions::str() const {
  std::ostringstream text;
  text.precision(17);
  visit(*this, [&](const std::string& name, const auto& value) {
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
  visit(options, [&](const std::string& name, auto& value) {
    const auto found = values.find(name);
    if (found == values.end()) {
      return;
    }
    std::istringstream in(found->second);
    read(in, &value);
    if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) {
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

}  // namespace ubt::sim
