// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/config/setting_value.h"

#include <gloo/common/error.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace gloo {
namespace transport {
namespace ubt {

void rejectSetting(const char* name,
                   const std::string& text,
                   const std::string& allowed) {
  throw ::gloo::InvalidOperationException(std::string(name) + "=" + text +
                                          ": expected " + allowed);
}

bool switchOf(const char* name, const std::string& text) {
  return choiceOf<bool>(name, text, {{"on", true}, {"off", false}});
}

uint64_t integerOf(const char* name,
                   const std::string& text,
                   uint64_t min,
                   uint64_t max,
                   const std::string& whole) {
  errno = 0;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  const bool digits = !text.empty() && text.find('-') == std::string::npos;
  if (!digits || *end != '\0' || errno != 0 || number < min || number > max) {
    rejectSetting(name,
                  whole.empty() ? text : whole,
                  "an integer from " + std::to_string(min) + " to " +
                      std::to_string(max));
  }
  return number;
}

::ubt::Duration durationOf(const char* name,
                           const std::string& text,
                           const std::string& whole) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const double ns = unit == "us"   ? 1e3
                    : unit == "ms" ? 1e6
                    : unit == "s"  ? 1e9
                                   : 0;
  const bool some = number * ns >= 1 && number < 1e6;  // false for NaN
  if (end == text.c_str() || !some) {
    rejectSetting(name,
                  whole.empty() ? text : whole,
                  "a positive duration such as 500us, 20ms or 1s");
  }
  return ::ubt::Duration(static_cast<::ubt::Duration::rep>(number * ns));
}

::ubt::Duration durationOrOff(const char* name, const std::string& text) {
  return text == "off" ? ::ubt::Duration{0} : durationOf(name, text);
}

double shareOf(const char* name, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= 0 && number < 1)) {
    rejectSetting(name, text, "a share from 0 (off) to under 1, such as 0.05");
  }
  return number;
}

double percentageOf(const char* name,
                    const std::string& text,
                    const std::string& allowed) {
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || std::strcmp(end, "%") != 0 ||
      !(percent > 0 && percent <= 100)) {
    rejectSetting(name, text, allowed + ", or a percentage such as 10%");
  }
  return percent / 100;
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
