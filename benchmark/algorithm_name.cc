// SPDX-License-Identifier: Apache-2.0
#include "benchmark/algorithm_name.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <stdexcept>

#include "transport_ubt/config/setting_table.h"

namespace gloo {
namespace compare {

using ubt::Settings;

AlgorithmName AlgorithmName::parse(const std::string& text) {
  AlgorithmName name;
  name.text = text;
  const auto first = text.substr(0, text.find('+'));
  const size_t colon = first.find(':');
  name.algorithm = first.substr(0, colon);
  if (colon != std::string::npos) {
    name.settings.emplace_back("repair", first.substr(colon + 1));
  }
  for (size_t plus = first.size(); plus < text.size();) {
    const size_t next = std::min(text.find('+', plus + 1), text.size());
    const auto part = text.substr(plus + 1, next - plus - 1);
    const size_t equals = part.find('=');
    if (equals == std::string::npos) {
      throw std::invalid_argument(text + ": '" + part +
                                  "' has to be NAME=VALUE, for example "
                                  "optireduce+gso=off");
    }
    const auto setting = part.substr(0, equals);
    if (name.sets(setting)) {
      throw std::invalid_argument(text + ": sets " + setting +
                                  " twice; leave out one of them");
    }
    name.settings.emplace_back(setting, part.substr(equals + 1));
    plus = next;
  }
  return name;
}

bool AlgorithmName::sets(const std::string& name) const {
  return std::any_of(settings.begin(), settings.end(), [&](const auto& each) {
    return each.first == name;
  });
}

std::map<std::string, std::string> AlgorithmName::variables() const {
  std::map<std::string, std::string> found;
  for (const auto& [name, value] : settings) {
    const auto* setting = ubt::findSetting(name);
    const auto variable = setting->variable();
    const auto entry = setting->prefix().substr(variable.size() + 1) + value;
    auto& text = found[variable];
    text += (text.empty() ? "" : ",") + entry;
  }
  return found;
}

Settings AlgorithmName::over(Settings others) const {
  try {
    for (const auto& [name, value] : settings) {
      others.set(name, value);
    }
    others.check();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(text + ": " + error.what());
  } catch (const gloo::Exception& error) {
    throw std::invalid_argument(text + ": " + error.what());
  }
  return others;
}

}  // namespace compare
}  // namespace gloo
