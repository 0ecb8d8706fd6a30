// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

template <typename T>
using Choices = std::vector<std::pair<std::string, T>>;

// "a, b, c"
template <typename T>
std::string namesOf(const Choices<T>& choices) {
  std::string names;
  for (const auto& [name, unused] : choices) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

// The text of a setting. Each function converts it, or throws
// gloo::InvalidOperationException, which names the setting, its text and the
// allowed values.
class SettingText {
 public:
  // `prefix` stands before the text, for example "GLOO_UBT_REPAIR=".
  SettingText(std::string prefix, std::string text)
      : prefix_(std::move(prefix)), text_(std::move(text)), whole_(text_) {}

  const std::string& str() const { return text_; }

  // The part before the first `separator`, and the part after it. Without
  // `separator`, both are all of the text. Errors show all of it.
  std::pair<SettingText, SettingText> split(char separator) const;

  template <typename T>
  T choice(const Choices<T>& choices) const {
    for (const auto& [name, value] : choices) {
      if (name == text_) {
        return value;
      }
    }
    reject("one of: " + namesOf(choices));
  }

  // From min to max.
  uint64_t integer(uint64_t min, uint64_t max) const;

  // For example "500us", "20ms", "1s": at least a nanosecond, less than 10^6
  // units.
  Duration duration() const;
  // The same; "off" gives zero.
  Duration durationOrOff() const;

  // A number from 0 to under 1.
  double share() const;

  [[noreturn]] void reject(const std::string& allowed) const;

 private:
  std::string prefix_;
  std::string text_;
  std::string whole_;
};

}  // namespace ubt
