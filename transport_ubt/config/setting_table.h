// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "transport_ubt/config/setting_text.h"

namespace ubt {

struct Settings;

// A row of the table of settings. The parser and docs/configuration.md come
// from this table.
struct Setting {
  enum class Kind {
    kVariable,    // "repair" is the variable GLOO_UBT_REPAIR
    kExperiment,  // "gso:off" is an entry of GLOO_UBT_EXPERIMENT
  };

  // The variable that sets it.
  std::string variable() const;
  // What stands before the value: "GLOO_UBT_REPAIR=", or
  // "GLOO_UBT_EXPERIMENT=gso:".
  std::string prefix() const;

  Kind kind;
  std::string name;    // in lower case, without the prefix
  std::string values;  // that it may have
  std::string preset;  // its value unless a user sets it
  std::string meaning;

  // Sets it. Throws gloo::InvalidOperationException, which names the setting,
  // the text and the allowed values.
  std::function<void(Settings*, const SettingText&)> read;
};

// All of them. The order is that of the page, and of reading.
const std::vector<Setting>& settingTable();

// Null: none has this name.
const Setting* findSetting(const std::string& name);

}  // namespace ubt
