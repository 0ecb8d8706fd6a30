// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/config/setting_text.h"

#include <gloo/common/error.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ubt {

std::pair<SettingText, SettingText> SettingText::split(char separator) const {
  std::pair<SettingText, SettingText> parts(*this, *this);
  const size_t at = text_.find(separator);
  if (at != std::string::npos) {
    parts.first.text_ = text_.substr(0, at);
    parts.second.text_ = text_.substr(at + 1);
  }
  return parts;
}

uint64_t SettingText::integer(uint64_t min, uint64_t max) const {
  errno = 0;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text_.c_str(), &end, 10);
  const bool digits = !text_.empty() && text_.find('-') == std::string::npos;
  if (!digits || *end != '\0' || errno != 0 || number < min || number > max) {
    reject("an integer from " + std::to_string(min) + " to " +
           std::to_string(max));
  }
  return number;
}

Duration SettingText::duration() const {
  char* end = nullptr;
  const double number = std::strtod(text_.c_str(), &end);
  const std::string unit = end;
  const double ns = unit == "us"   ? 1e3
                    : unit == "ms" ? 1e6
                    : unit == "s"  ? 1e9
                                   : 0;
  const bool some = number * ns >= 1 && number < 1e6;  // false for NaN
  if (end == text_.c_str() || !some) {
    reject("a positive duration such as 500us, 20ms or 1s");
  }
  return Duration(static_cast<Duration::rep>(number * ns));
}

Duration SettingText::durationOrOff() const {
  return text_ == "off" ? Duration{0} : duration();
}

double SettingText::share() const {
  char* end = nullptr;
  const double number = std::strtod(text_.c_str(), &end);
  if (text_.empty() || *end != '\0' || !(number >= 0 && number < 1)) {
    reject("a share from 0 (off) to under 1, such as 0.05");
  }
  return number;
}

void SettingText::reject(const std::string& allowed) const {
  throw gloo::InvalidOperationException(prefix_ + whole_ + ": expected " +
                                        allowed);
}

}  // namespace ubt
