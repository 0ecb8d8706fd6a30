// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "transport_ubt/core/base/clock.h"

namespace gloo {
namespace transport {
namespace ubt {

// These functions convert a setting's text to its value. All of them throw
// gloo::InvalidOperationException if the text is not allowed. The error names
// the setting, its text and the allowed values.

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

// An integer from min to max. If `text` is only a part of the setting's text,
// `whole` is all of it.
uint64_t integerOf(const char* name,
                   const std::string& text,
                   uint64_t min,
                   uint64_t max,
                   const std::string& whole = "");

// A duration, e.g. "500us", "20ms", "1s": at least a nanosecond, less than 10^6
// units. `whole` is as in integerOf().
::ubt::Duration durationOf(const char* name,
                           const std::string& text,
                           const std::string& whole = "");
// Like durationOf(), but "off" gives zero.
::ubt::Duration durationOrOff(const char* name, const std::string& text);

// A number from 0 to under 1.
double shareOf(const char* name, const std::string& text);

// A percentage, e.g. "12.5%", above 0 and at most 100, as a share. `allowed`
// names other allowed values for the error.
double percentageOf(const char* name,
                    const std::string& text,
                    const std::string& allowed);

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
