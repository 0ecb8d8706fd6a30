// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "transport_ubt/core/base/clock.h"

namespace gloo {
namespace transport {
namespace ubt {

// What the text of a setting means. All of these throw
// gloo::InvalidOperationException for a text that means nothing here; the error
// names the setting, its text and what is allowed.

[[noreturn]] void rejectSetting(const char* name,
                                const std::string& text,
                                const std::string& allowed);

// One of the choices, by name.
template <typename T>
T choiceOf(const char* name,
           const std::string& text,
           const std::map<std::string, T>& choices) {
  const auto found = choices.find(text);
  if (found != choices.end()) {
    return found->second;
  }
  std::string allowed;
  for (const auto& [choice, unused] : choices) {
    allowed += (allowed.empty() ? "one of: " : ", ") + choice;
  }
  rejectSetting(name, text, allowed);
}

// "on" or "off".
bool switchOf(const char* name, const std::string& text);

// From min to max. `whole` is all of the setting's text if `text` is but a part
// of it.
uint64_t integerOf(const char* name,
                   const std::string& text,
                   uint64_t min,
                   uint64_t max,
                   const std::string& whole = "");

// "500us", "20ms", "1s": a nanosecond at least, under 10^6 of the unit.
// `whole`: likewise.
::ubt::Duration durationOf(const char* name,
                           const std::string& text,
                           const std::string& whole = "");
// Likewise, or "off": zero.
::ubt::Duration durationOrOff(const char* name, const std::string& text);

// From 0 to under 1.
double shareOf(const char* name, const std::string& text);

// "12.5%", above 0 to 100, as a share; `allowed` is what else the error names.
double percentageOf(const char* name,
                    const std::string& text,
                    const std::string& allowed);

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
