// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "transport_ubt/config/settings.h"

namespace gloo {
namespace compare {

// An algorithm's name on the command line, with settings that count for this
// algorithm alone: "optireduce:none+gso=off". After a colon stands the repair
// policy, which is a setting like the others. The names are those of the
// table of settings (transport_ubt/config/setting_table.h).
struct AlgorithmName {
  std::string text;
  std::string algorithm;  // "optireduce"
  // Names and values, each name once: {"repair", "none"}, {"gso", "off"}.
  std::vector<std::pair<std::string, std::string>> settings;

  // Throws std::invalid_argument if a part is not NAME=VALUE, or if a name is
  // there twice.
  static AlgorithmName parse(const std::string& text);

  // Whether a setting with this name is there.
  bool sets(const std::string& name) const;

  // The environment variables that mean these settings: {"GLOO_UBT_REPAIR",
  // "none"}, {"GLOO_UBT_EXPERIMENT", "gso:off"}. REQUIRES that over() accepts
  // them.
  std::map<std::string, std::string> variables() const;

  // Changes the settings of `others` as if the variables were set. Throws
  // std::invalid_argument that names the setting and its allowed values.
  ubt::Settings over(ubt::Settings others) const;
};

}  // namespace compare
}  // namespace gloo
