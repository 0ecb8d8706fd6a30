// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/config/settings.h"

#include <gloo/common/error.h>

#include <cctype>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "transport_ubt/config/nearest.h"
#include "transport_ubt/config/setting_table.h"
#include "transport_ubt/io/warning.h"

extern char** environ;

namespace ubt {
namespace {

constexpr char kPrefix[] = "GLOO_UBT_";

void warnOfUnknown() {
  std::vector<std::string> known;
  for (const Setting& setting : settingTable()) {
    known.push_back(setting.variable());
  }
  for (char** entry = environ; *entry != nullptr; entry++) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (name.rfind(kPrefix, 0) != 0) {
      continue;
    }
    const std::string closest = nearest(name, known);
    if (closest == name) {
      continue;
    }
    std::string experiment;
    for (const char letter : name.substr(sizeof(kPrefix) - 1)) {
      experiment += static_cast<char>(std::tolower(letter));
    }
    const Setting* const setting = findSetting(experiment);
    warnOncePerJob("unknown variable " + name + "; did you mean " +
                   (setting == nullptr ? closest : setting->prefix() + "...") +
                   "?");
  }
}

}  // namespace

void Settings::set(const std::string& name, const std::string& value) {
  const Setting* const setting = findSetting(name);
  if (setting == nullptr) {
    std::vector<std::string> names;
    std::string all;
    for (const Setting& other : settingTable()) {
      names.push_back(other.name);
      all += (all.empty() ? "" : ", ") + other.name;
    }
    throw gloo::InvalidOperationException(
        "there is no setting '" + name + "'; did you mean " +
        nearest(name, names) + "? There are: " + all);
  }
  setting->read(this, SettingText(setting->prefix(), value));
  given_[name] = setting->prefix() + value;
}

void Settings::check() const {
  if (protocol.multicast && protocol.auth == AuthMode::kHeader) {
    throw gloo::InvalidOperationException(
        "GLOO_UBT_MULTICAST=auto needs GLOO_UBT_AUTH=full or aead: with "
        "header, any host that hears the multicast can replace a result with "
        "another payload; set one of these on all ranks, or unset "
        "GLOO_UBT_MULTICAST");
  }
  if (has("bound") && has("cut_budget")) {
    throw gloo::InvalidOperationException(
        given_.at("bound") + " and " + given_.at("cut_budget") +
        " contradict each other: a bound set by hand cuts whatever comes "
        "later; unset one of them");
  }
}

Settings Settings::fromEnvironment() {
  static std::once_flag warned;
  std::call_once(warned, warnOfUnknown);
  Settings settings;
  for (const Setting& setting : settingTable()) {
    if (setting.kind != Setting::Kind::kVariable) {
      continue;
    }
    if (const char* value = std::getenv(setting.variable().c_str())) {
      settings.set(setting.name, value);
    }
  }
  settings.check();
  return settings;
}

}  // namespace ubt
