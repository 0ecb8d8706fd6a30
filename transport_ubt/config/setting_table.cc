// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/config/setting_table.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "transport_ubt/config/settings.h"

namespace ubt {
namespace {

constexpr auto kVariable = Setting::Kind::kVariable;
constexpr auto kExperiment = Setting::Kind::kExperiment;

// Below, `get` returns a reference to the member that a row sets. A row's
// default is the member's own.

template <typename T, typename Get>
Setting choice(Setting::Kind kind,
               const char* name,
               Get get,
               const Choices<T>& choices,
               const char* meaning) {
  Settings settings;
  std::string preset;
  for (const auto& [text, value] : choices) {
    preset = value == get(settings) ? text : preset;
  }
  return {kind,
          name,
          namesOf(choices),
          preset,
          meaning,
          [get, choices](Settings* s, const SettingText& text) {
            get(*s) = text.choice(choices);
          }};
}

template <typename Get>
Setting onOff(Setting::Kind kind,
              const char* name,
              Get get,
              const char* meaning) {
  return choice<bool>(kind, name, get, {{"on", true}, {"off", false}}, meaning);
}

template <typename Get>
Setting integer(Setting::Kind kind,
                const char* name,
                Get get,
                uint64_t min,
                uint64_t max,
                const char* meaning) {
  Settings settings;
  return {kind,
          name,
          std::to_string(min) + " to " + std::to_string(max),
          std::to_string(get(settings)),
          meaning,
          [get, min, max](Settings* s, const SettingText& text) {
            get(*s) = static_cast<std::decay_t<decltype(get(*s))>>(
                text.integer(min, max));
          }};
}

template <typename Get>
Setting share(Setting::Kind kind,
              const char* name,
              Get get,
              const char* meaning) {
  Settings settings;
  std::ostringstream preset;
  preset << get(settings);
  return {
      kind,
      name,
      "0 (off) to under 1",
      preset.str(),
      meaning,
      [get](Settings* s, const SettingText& text) { get(*s) = text.share(); }};
}

// Control loops, joined by "/".
Setting without() {
  const Choices<Loop> loops = {{"factor", Loop::kFactor},
                               {"absent", Loop::kAbsent},
                               {"split", Loop::kSplit},
                               {"spacing", Loop::kSpacing},
                               {"half", Loop::kHalf},
                               {"results_first", Loop::kResultsFirst},
                               {"majority", Loop::kMajority},
                               {"order", Loop::kOrder},
                               {"shares", Loop::kShares},
                               {"early_credit", Loop::kEarlyCredit},
                               {"loss_numbers", Loop::kLossNumbers},
                               {"reordering", Loop::kReordering},
                               {"notice_delay", Loop::kNoticeDelay},
                               {"trains", Loop::kTrains},
                               {"window", Loop::kWindow},
                               {"queue", Loop::kQueue},
                               {"traffic", Loop::kTraffic},
                               {"buffer", Loop::kBuffer},
                               {"base_loss", Loop::kBaseLoss},
                               {"marks", Loop::kMarks}};
  return {kExperiment,
          "without",
          "names joined by /: " + namesOf(loops),
          "none",
          "Control loops to switch off (transport_ubt/core/base/loop_set.h).",
          [loops](Settings* s, const SettingText& text) {
            LoopSet off;
            SettingText rest = text;
            while (true) {
              const auto [first, others] = rest.split('/');
              off.add(first.choice(loops));
              if (first.str() == rest.str()) {
                break;
              }
              rest = others;
            }
            s->protocol.without = off;
          }};
}

// As SettingText::duration() reads it. REQUIRES whole microseconds.
std::string textOf(Duration duration) {
  using std::chrono::duration_cast;
  const auto seconds = duration_cast<std::chrono::seconds>(duration);
  return seconds == duration
             ? std::to_string(seconds.count()) + "s"
             : std::to_string(
                   duration_cast<std::chrono::microseconds>(duration).count()) +
                   "us";
}

template <typename Get>
Setting durationOrOff(Setting::Kind kind,
                      const char* name,
                      Get get,
                      const char* meaning) {
  Settings settings;
  return {kind,
          name,
          "a duration, or off",
          textOf(get(settings)),
          meaning,
          [get](Settings* s, const SettingText& text) {
            get(*s) = text.durationOrOff();
          }};
}

template <typename Get>
Setting text(const char* name,
             Get get,
             const char* values,
             const char* meaning) {
  return {
      kVariable,
      name,
      values,
      "none",
      meaning,
      [get](Settings* s, const SettingText& value) { get(*s) = value.str(); }};
}

void readBound(Settings* s, const SettingText& text) {
  const auto [scatter, broadcast] = text.split(',');
  s->protocol.boundScatter = scatter.duration();
  s->protocol.boundBroadcast = broadcast.duration();
  if (!s->has("warmup_ops")) {
    s->protocol.warmupOps = 0;  // there is nothing to learn
  }
}

void readGroups(Settings* s, const SettingText& text) {
  constexpr uint64_t kGroupsMax = 1 << 20;
  const std::string& value = text.str();
  if (value == "auto" || value == "host") {
    s->groups.by = value == "auto" ? Grouping::By::kSize : Grouping::By::kHost;
    return;
  }
  if (value.empty() || value.find_first_not_of("0123456789") != value.npos) {
    text.reject("one of: auto, host, or a number of groups such as 4");
  }
  s->groups.by = Grouping::By::kCount;
  s->groups.count = static_cast<uint32_t>(text.integer(1, kGroupsMax));
}

void readPorts(Settings* s, const SettingText& text) {
  const auto [low, high] = text.split('-');
  s->portLow = static_cast<uint16_t>(low.integer(1024, 65535));
  s->portHigh = static_cast<uint16_t>(high.integer(s->portLow, 65535));
}

void readHandshakeTimeout(Settings* s, const SettingText& text) {
  s->handshakeTimeout =
      std::chrono::ceil<std::chrono::milliseconds>(text.duration());
}

void readSecretFile(Settings* s, const SettingText& text) {
  std::ifstream file(text.str());
  if (!std::getline(file, s->secret) || s->secret.empty()) {
    text.reject("a readable file whose first line is the secret");
  }
}

void readTrace(Settings* s, const SettingText& text) {
  s->traceFolder = text.str();
  s->protocol.trace = !s->traceFolder.empty();
}

void readFault(Settings* s, const SettingText& text) {
  try {
    s->faults = FaultOptions::parse(text.str());
  } catch (const std::invalid_argument& error) {
    throw gloo::InvalidOperationException(error.what());
  }
}

void readExperiment(Settings* s, const SettingText& text) {
  std::stringstream entries(text.str());
  for (std::string entry; std::getline(entries, entry, ',');) {
    const size_t colon = entry.find(':');
    const Setting* const setting = findSetting(entry.substr(0, colon));
    if (colon == std::string::npos || setting == nullptr ||
        setting->kind != kExperiment) {
      std::string names;
      for (const Setting& other : settingTable()) {
        if (other.kind == kExperiment) {
          names += (names.empty() ? "" : ", ") + other.name;
        }
      }
      text.reject("entries such as gso:off, with commas between them, of " +
                  names);
    }
    s->set(setting->name, entry.substr(colon + 1));
  }
}

// The bound, and the fate of data that misses it.
std::vector<Setting> boundRows() {
  return {
      choice<bool>(
          kVariable,
          "bounded",
          [](auto& s) -> auto& { return s.onlyDdp; },
          {{"all", false}, {"ddp", true}},
          "The drop-in's sums that may be bounded: `all`, or only gradients of "
          "DistributedDataParallel and FSDP (`ddp`, docs/drop_in.md). All "
          "ranks."),
      integer(
          kVariable,
          "min_bytes",
          [](auto& s) -> auto& { return s.minBytes; },
          0,
          uint64_t{1} << 40,
          "Smallest bounded allreduce, in bytes. Smaller ones run exactly, "
          "over TCP. All ranks."),
      choice<RepairPolicy>(
          kVariable,
          "repair",
          [](auto& s) -> auto& { return s.protocol.repair; },
          {{"none", RepairPolicy::kNone},
           {"broadcast", RepairPolicy::kBroadcast},
           {"both", RepairPolicy::kBoth}},
          "The missing data that a rank requests again. `none` (the paper's "
          "policy): nothing, so models may diverge. `broadcast`: results. "
          "`both`: contributions, too."),
      choice<SumOrder>(
          kVariable,
          "order",
          [](auto& s) -> auto& { return s.protocol.order; },
          {{"arrival", SumOrder::kArrival}, {"rank", SumOrder::kRank}},
          "Owners add contributions as they arrive, or in the order of ranks. "
          "With `rank` on all ranks, each run gives the same bits, but owners "
          "need memory for all."),
      {kVariable,
       "bound",
       "a duration, or two: scatter,broadcast",
       "learned",
       "Sets bounds by hand, for example `20ms` or `5ms,10ms`: no warm-up, no "
       "`GLOO_UBT_CUT_BUDGET`.",
       readBound},
      share(
          kVariable,
          "cut_budget",
          [](auto& s) -> auto& { return s.protocol.cutBudget; },
          "The largest share of all contributions that is left out because "
          "they are late, in the long run. 0: only lost ones are left out."),
      choice<Hadamard>(
          kVariable,
          "hadamard",
          [](auto& s) -> auto& { return s.protocol.hadamard; },
          {{"auto", Hadamard::kAuto},
           {"on", Hadamard::kAlways},
           {"off", Hadamard::kNever}},
          "Transforms contributions, so that a lost packet changes many "
          "elements a little. `auto`: while some rank loses more than 2 %."),
      share(
          kVariable,
          "skip_loss",
          [](auto& s) -> auto& { return s.protocol.skipLoss; },
          "A call that lacks more than this share of its contributions gives "
          "zeros on all ranks. If set, each call waits for every result. All "
          "ranks."),
      share(
          kVariable,
          "halt_loss",
          [](auto& s) -> auto& { return s.protocol.haltLoss; },
          "If a rank lacks more than this share of the other ranks' "
          "contributions, averaged over about 16 calls, further calls throw "
          "on all ranks."),
      {kVariable,
       "groups",
       "auto, host, 1 to 2^20",
       "auto",
       "The groups of a hierarchical allreduce: a number of equal groups "
       "of neighbouring ranks, or one per host. `auto`: the largest "
       "divisor of the ranks up to their square root. All ranks.",
       readGroups},
  };
}

// Sockets and memory.
std::vector<Setting> hostRows() {
  return {
      {kVariable,
       "ports",
       "a port or low-high, 1024 to 65535",
       "any",
       "UDP ports, for firewalls. Each device of a host takes one.",
       readPorts},
      {kVariable,
       "mtu",
       "576 to 65536",
       "the interface's",
       "Largest IP packet, in bytes. All ranks use the smallest value, or "
       "less if a path cannot carry it. A warning then names the path.",
       [](Settings* s, const SettingText& text) {
         s->mtu = static_cast<int>(text.integer(576, 65536));
       }},
      integer(
          kVariable,
          "arena_bytes",
          [](auto& s) -> auto& { return s.arenaBytes; },
          1 << 20,
          uint64_t{1} << 40,
          "The most memory that peers can make this process hold."),
      integer(
          kVariable,
          "window_bytes",
          [](auto& s) -> auto& { return s.windowBytes; },
          64 << 10,
          1 << 30,
          "The most bytes in flight to one socket, from all senders. "
          "net.core.rmem_max limits it, too; a warning says if that costs "
          "time."),
      choice<bool>(
          kVariable,
          "multicast",
          [](auto& s) -> auto& { return s.protocol.multicast; },
          {{"auto", true}, {"off", false}},
          "Whether this rank sends results by IP multicast to the ranks that "
          "hear it. Needs GLOO_UBT_AUTH=full or aead."),
  };
}

// Contexts: how they begin and end, and who takes part.
std::vector<Setting> contextRows() {
  return {
      {kVariable,
       "handshake_timeout",
       "a duration",
       "the context's timeout",
       "How long ranks of the drop-in wait for each other at a context's "
       "first bounded call.",
       readHandshakeTimeout},
      durationOrOff(
          kVariable,
          "linger",
          [](auto& s) -> auto& { return s.linger; },
          "How long an ending context or process serves ranks that need its "
          "results; at most the context's timeout."),
      text(
          "report",
          [](auto& s) -> auto& { return s.reportFolder; },
          "a folder",
          "Where the drop-in reports each bounded or warm-up call, and leaves "
          "metrics."),
      text(
          "metrics",
          [](auto& s) -> auto& { return s.metricsFolder; },
          "a folder",
          "Where the drop-in leaves metrics for Prometheus, if not in the "
          "folder of `GLOO_UBT_REPORT`."),
      {kVariable,
       "trace",
       "a folder",
       "none",
       "Where each rank records when contributions arrive "
       "(docs/watching.md).",
       readTrace},
      choice<AuthMode>(
          kVariable,
          "auth",
          [](auto& s) -> auto& { return s.protocol.auth; },
          {{"header", AuthMode::kHeader},
           {"full", AuthMode::kFull},
           {"aead", AuthMode::kAead}},
          "The part of a data packet that its tag covers: the header, or all. "
          "`aead` also encrypts. All ranks."),
      text(
          "secret",
          [](auto& s) -> auto& { return s.secret; },
          "text",
          "The job's secret, a part of every key. A file is safer: users of "
          "the host may see a process's environment. All ranks."),
      {kVariable,
       "secret_file",
       "a file",
       "none",
       "A file whose first line is the secret. It has precedence.",
       readSecretFile},
      text(
          "redis_password",
          [](auto& s) -> auto& { return s.redisPassword; },
          "text",
          "Redis's password, if the URL has none."),
      text(
          "redis_password_file",
          [](auto& s) -> auto& { return s.redisPasswordFile; },
          "a file",
          "A file that contains the password. Set only one of the two."),
      {kVariable,
       "fault",
       "a list, see below",
       "none",
       "Harms the datagrams that this rank sends, for tests.",
       readFault},
      {kVariable,
       "experiment",
       "name:value,...",
       "none",
       "Values of the experimental settings below.",
       readExperiment},
  };
}

// For experiments with the transport; no user needs them.
std::vector<Setting> experimentRows() {
  return {
      integer(
          kExperiment,
          "warmup_ops",
          [](auto& s) -> auto& { return s.protocol.warmupOps; },
          0,
          1000000,
          "Ops of one size class that teach its usual times. Until one has had "
          "them, all ops are exact."),
      share(
          kExperiment,
          "zero_loss",
          [](auto& s) -> auto& { return s.protocol.zeroLoss; },
          "An owner that lacks more than this share of its shard when its "
          "stage ends sends zeros for incomplete slots."),
      integer(
          kExperiment,
          "lead_ops",
          [](auto& s) -> auto& { return s.protocol.leadOps; },
          1,
          64,
          "How many ops a rank may be ahead of the slowest live rank."),
      integer(
          kExperiment,
          "lead_bytes",
          [](auto& s) -> auto& { return s.protocol.leadBytes; },
          1,
          uint64_t{1} << 40,
          "The most bytes of those ops."),
      onOff(
          kExperiment,
          "gso",
          [](auto& s) -> auto& { return s.segmentation; },
          "UDP_SEGMENT: many datagrams in one system call."),
      choice<Loops>(
          kExperiment,
          "loops",
          [](auto& s) -> auto& { return s.protocol.loops; },
          {{"measured", Loops::kMeasured}, {"paper", Loops::kPaper}},
          "The control loops that end stages: those of this project, or those "
          "of the OptiReduce paper. All ranks."),
      without(),
      durationOrOff(
          kExperiment,
          "yield",
          [](auto& s) -> auto& { return s.idle.yield; },
          "How long a waiting call yields the CPU before it sleeps. In the "
          "drop-in, the default is off."),
      durationOrOff(
          kExperiment,
          "nap",
          [](auto& s) -> auto& { return s.idle.nap; },
          "How long a waiting call sleeps at least, for each rank that shares "
          "its CPU."),
  };
}

}  // namespace

std::string Setting::variable() const {
  std::string result = "GLOO_UBT_";
  for (const char letter :
       kind == kExperiment ? std::string("experiment") : name) {
    result += static_cast<char>(std::toupper(letter));
  }
  return result;
}

std::string Setting::prefix() const {
  return variable() + "=" + (kind == kExperiment ? name + ":" : "");
}

const std::vector<Setting>& settingTable() {
  static const auto* const kTable = [] {
    auto* const all = new std::vector<Setting>;
    for (const auto& rows :
         {boundRows(), hostRows(), contextRows(), experimentRows()}) {
      all->insert(all->end(), rows.begin(), rows.end());
    }
    return all;
  }();
  return *kTable;
}

const Setting* findSetting(const std::string& name) {
  for (const Setting& setting : settingTable()) {
    if (setting.name == name) {
      return &setting;
    }
  }
  return nullptr;
}

}  // namespace ubt
