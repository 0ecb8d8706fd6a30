// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/config/settings.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include "transport_ubt/config/nearest.h"
#include "transport_ubt/config/setting_value.h"
#include "transport_ubt/io/warning.h"

extern char** environ;

namespace gloo {
namespace transport {
namespace ubt {
namespace {

constexpr char kPrefix[] = "GLOO_UBT_";

void readBound(Settings* s, const char* name, const std::string& value) {
  const size_t comma = value.find(',');
  s->protocol.boundScatter = durationOf(name, value.substr(0, comma), value);
  s->protocol.boundBroadcast =
      comma == std::string::npos
          ? s->protocol.boundScatter
          : durationOf(name, value.substr(comma + 1), value);
}

void readEarly(Settings* s, const char* name, const std::string& value) {
  s->protocol.early = value != "off";
  s->protocol.marks = value != "unmarked";
  s->protocol.earlyShare = 0;
  if (value == "on" || value == "off" || value == "unmarked") {
    return;
  }
  s->protocol.earlyShare =
      percentageOf(name, value, "one of: on, off, unmarked");
}

void readGroups(Settings* s, const char* name, const std::string& value) {
  constexpr uint64_t kGroupsMax = 1 << 20;
  if (value == "auto" || value == "host") {
    s->groups.by = value == "auto" ? Grouping::By::kSize : Grouping::By::kHost;
    return;
  }
  if (value.empty() || value.find_first_not_of("0123456789") != value.npos) {
    rejectSetting(
        name, value, "one of: auto, host, or a number of groups such as 4");
  }
  s->groups.by = Grouping::By::kCount;
  s->groups.count =
      static_cast<uint32_t>(integerOf(name, value, 1, kGroupsMax));
}

void readPorts(Settings* s, const char* name, const std::string& value) {
  const size_t dash = value.find('-');
  s->portLow = static_cast<uint16_t>(
      integerOf(name, value.substr(0, dash), 1024, 65535, value));
  s->portHigh =
      dash == std::string::npos
          ? s->portLow
          : static_cast<uint16_t>(integerOf(
                name, value.substr(dash + 1), s->portLow, 65535, value));
}

void readSecretFile(Settings* s, const char* name, const std::string& path) {
  std::ifstream file(path);
  if (!std::getline(file, s->secret) || s->secret.empty()) {
    rejectSetting(name, path, "a readable file whose first line is the secret");
  }
}

using Reader =
    std::function<void(Settings*, const char* name, const std::string& value)>;

using Readers = std::map<std::string, Reader>;

// Repair, fill, order and authentication.
Readers policyReaders() {
  return {
      {"GLOO_UBT_REPAIR",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.repair = choiceOf<::ubt::RepairPolicy>(
             name,
             value,
             {{"none", ::ubt::RepairPolicy::kNone},
              {"broadcast", ::ubt::RepairPolicy::kBroadcast},
              {"both", ::ubt::RepairPolicy::kBoth}});
       }},
      {"GLOO_UBT_FILL",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.fill = choiceOf<::ubt::Fill>(
             name,
             value,
             {{"local", ::ubt::Fill::kLocal}, {"zero", ::ubt::Fill::kZero}});
       }},
      {"GLOO_UBT_ORDER",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.order =
             choiceOf<::ubt::SumOrder>(name,
                                       value,
                                       {{"arrival", ::ubt::SumOrder::kArrival},
                                        {"rank", ::ubt::SumOrder::kRank}});
       }},
      {"GLOO_UBT_AUTH",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.auth =
             choiceOf<::ubt::AuthMode>(name,
                                       value,
                                       {{"header", ::ubt::AuthMode::kHeader},
                                        {"full", ::ubt::AuthMode::kFull},
                                        {"aead", ::ubt::AuthMode::kAead}});
       }},
  };
}

// Bounds, transform, warm-up, loss limits, lead and eligibility.
Readers boundReaders() {
  return {
      {"GLOO_UBT_BOUND", readBound},
      {"GLOO_UBT_BOUND_MODE",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.boundMode =
             choiceOf<::ubt::BoundMode>(name,
                                        value,
                                        {{"median", ::ubt::BoundMode::kMedian},
                                         {"paper", ::ubt::BoundMode::kPaper}});
       }},
      {"GLOO_UBT_HADAMARD",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.hadamard =
             choiceOf<::ubt::Hadamard>(name,
                                       value,
                                       {{"auto", ::ubt::Hadamard::kAuto},
                                        {"on", ::ubt::Hadamard::kAlways},
                                        {"off", ::ubt::Hadamard::kNever}});
       }},
      {"GLOO_UBT_EARLY", readEarly},
      {"GLOO_UBT_WARMUP_OPS",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.warmupOps =
             static_cast<uint32_t>(integerOf(name, value, 0, 1000000));
       }},
      {"GLOO_UBT_SKIP_LOSS",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.skipLoss = shareOf(name, value);
       }},
      {"GLOO_UBT_ZERO_LOSS",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.zeroLoss = shareOf(name, value);
       }},
      {"GLOO_UBT_HALT_LOSS",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.haltLoss = shareOf(name, value);
       }},
      {"GLOO_UBT_LEAD_OPS",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.leadOps =
             static_cast<uint32_t>(integerOf(name, value, 1, 64));
       }},
      {"GLOO_UBT_LEAD_BYTES",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.leadBytes = integerOf(name, value, 1, uint64_t{1} << 40);
       }},
      {"GLOO_UBT_RESULTS_FIRST",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.resultsFirst = switchOf(name, value);
       }},
      {"GLOO_UBT_MIN_BYTES",
       [](Settings* s, const char* name, const std::string& value) {
         s->minBytes = integerOf(name, value, 0, uint64_t{1} << 40);
       }},
  };
}

Readers socketReaders() {
  return {
      {"GLOO_UBT_PORTS", readPorts},
      {"GLOO_UBT_MTU",
       [](Settings* s, const char* name, const std::string& value) {
         s->mtu = static_cast<int>(integerOf(name, value, 576, 65536));
       }},
      {"GLOO_UBT_GSO",
       [](Settings* s, const char* name, const std::string& value) {
         s->segmentation = switchOf(name, value);
       }},
      {"GLOO_UBT_ARENA_BYTES",
       [](Settings* s, const char* name, const std::string& value) {
         s->arenaBytes = integerOf(name, value, 1 << 20, uint64_t{1} << 40);
       }},
      {"GLOO_UBT_WINDOW_BYTES",
       [](Settings* s, const char* name, const std::string& value) {
         s->windowBytes = integerOf(name, value, 64 << 10, 1 << 30);
       }},
      {"GLOO_UBT_WINDOW",
       [](Settings* s, const char* name, const std::string& value) {
         s->windowAdapts =
             choiceOf<bool>(name, value, {{"auto", true}, {"fixed", false}});
       }},
      {"GLOO_UBT_TRAINS",
       [](Settings* s, const char* name, const std::string& value) {
         s->trainsAdapt =
             choiceOf<bool>(name, value, {{"auto", true}, {"fixed", false}});
       }},
      {"GLOO_UBT_MULTICAST",
       [](Settings* s, const char* name, const std::string& value) {
         s->protocol.multicast =
             choiceOf<bool>(name, value, {{"auto", true}, {"off", false}});
       }},
      {"GLOO_UBT_YIELD",
       [](Settings* s, const char* name, const std::string& value) {
         s->idle.yield = durationOrOff(name, value);
       }},
      {"GLOO_UBT_NAP",
       [](Settings* s, const char* name, const std::string& value) {
         s->idle.nap = durationOrOff(name, value);
       }},
  };
}

Readers otherReaders() {
  return {
      {"GLOO_UBT_SECRET",
       [](Settings* s, const char*, const std::string& value) {
         s->secret = value;
       }},
      {"GLOO_UBT_SECRET_FILE", readSecretFile},
      {"GLOO_UBT_LINGER",
       [](Settings* s, const char* name, const std::string& value) {
         s->linger = durationOrOff(name, value);
       }},
      {"GLOO_UBT_GROUPS", readGroups},
      {"GLOO_UBT_FAULT",
       [](Settings* s, const char*, const std::string& value) {
         try {
           s->faults = ::ubt::FaultOptions::parse(value);
         } catch (const std::invalid_argument& error) {
           throw ::gloo::InvalidOperationException(error.what());
         }
       }},
  };
}

const Readers& readers() {
  static const auto* const kReaders = [] {
    auto* const all = new Readers;
    for (const Readers& group :
         {policyReaders(), boundReaders(), socketReaders(), otherReaders()}) {
      all->insert(group.begin(), group.end());
    }
    return all;
  }();
  return *kReaders;
}

// Variables that the Redis rendezvous and the drop-in read.
constexpr const char* kOthers[] = {"GLOO_UBT_REDIS_PASSWORD",
                                   "GLOO_UBT_REDIS_PASSWORD_FILE",
                                   "GLOO_UBT_HANDSHAKE_TIMEOUT",
                                   "GLOO_UBT_REPORT"};

void warnOfUnknown() {
  for (char** entry = environ; *entry != nullptr; entry++) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (name.rfind(kPrefix, 0) != 0 || readers().count(name) > 0 ||
        std::count(std::begin(kOthers), std::end(kOthers), name) > 0) {
      continue;
    }
    std::vector<std::string> known = Settings::variables();
    known.insert(known.end(), std::begin(kOthers), std::end(kOthers));
    warn("unknown variable " + name + "; did you mean " + nearest(name, known) +
         "?");
  }
}

// Settings for learned bounds contradict a bound that is set by hand.
void refuseBesideBound() {
  const char* const early = std::getenv("GLOO_UBT_EARLY");
  const char* const other =
      early != nullptr && std::strcmp(early, "off") != 0 ? "GLOO_UBT_EARLY"
      : std::getenv("GLOO_UBT_BOUND_MODE") != nullptr    ? "GLOO_UBT_BOUND_MODE"
                                                         : nullptr;
  if (other != nullptr) {
    throw ::gloo::InvalidOperationException(
        std::string("GLOO_UBT_BOUND=") + std::getenv("GLOO_UBT_BOUND") +
        " and " + other + "=" + std::getenv(other) +
        " contradict each other: a bound set by hand is neither learned nor "
        "ended early; unset one of them");
  }
}

}  // namespace

std::vector<std::string> Settings::variables() {
  std::vector<std::string> names;
  for (const auto& [name, unused] : readers()) {
    names.push_back(name);
  }
  return names;
}

void Settings::read(const std::string& name, const std::string& value) {
  const auto reader = readers().find(name);
  if (reader == readers().end()) {
    throw ::gloo::InvalidOperationException("unknown variable " + name +
                                            "; did you mean " +
                                            nearest(name, variables()) + "?");
  }
  reader->second(this, name.c_str(), value);
}

void Settings::check() const {
  if (protocol.multicast && protocol.auth == ::ubt::AuthMode::kHeader) {
    throw ::gloo::InvalidOperationException(
        "GLOO_UBT_MULTICAST=auto needs GLOO_UBT_AUTH=full or aead: with "
        "header, any host that hears the group can replace a result with "
        "another payload; set one of these on all ranks, or unset "
        "GLOO_UBT_MULTICAST");
  }
}

Settings Settings::fromEnvironment() {
  static std::once_flag warned;
  std::call_once(warned, warnOfUnknown);
  Settings settings;
  for (const std::string& name : variables()) {
    if (const char* value = std::getenv(name.c_str())) {
      settings.read(name, value);
    }
  }
  if (settings.protocol.boundScatter > ::ubt::Duration{0}) {
    refuseBesideBound();
    if (std::getenv("GLOO_UBT_WARMUP_OPS") == nullptr) {
      settings.protocol.warmupOps = 0;  // there is nothing to learn
    }
  }
  settings.check();
  return settings;
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
