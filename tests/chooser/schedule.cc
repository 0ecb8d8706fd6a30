// SPDX-License-Identifier: Apache-2.0
#include "tests/chooser/schedule.h"

#include <array>
#include <sstream>

namespace ubt::chooser {
namespace {

constexpr std::array<const char*, 13> kNames = {"overtake",
                                                "postpone",
                                                "drop",
                                                "duplicate",
                                                "hold",
                                                "miss",
                                                "stall",
                                                "deadline",
                                                "close",
                                                "crash",
                                                "stop",
                                                "leave",
                                                "starve"};

bool hasWhich(Choice choice) {
  return choice == Choice::kOvertake || choice == Choice::kClose ||
         choice == Choice::kStarve;
}

// Parses a word without its step.
bool choiceOf(const std::string& word, Deviation* out) {
  for (size_t i = 0; i < kNames.size(); i++) {
    const std::string name = kNames[i];
    if (word.compare(0, name.size(), name) != 0) {
      continue;
    }
    out->choice = static_cast<Choice>(i);
    const std::string rest = word.substr(name.size());
    if (!hasWhich(out->choice)) {
      return rest.empty();
    }
    std::istringstream number(rest);
    unsigned which = 0;
    if (!(number >> which) || !number.eof() || which > UINT8_MAX) {
      return false;
    }
    out->which = static_cast<uint8_t>(which);
    return true;
  }
  return false;
}

}  // namespace

std::string toText(const Schedule& schedule) {
  std::ostringstream text;
  const char* separator = "";
  for (const Deviation& deviation : schedule) {
    text << separator << deviation.step << ':'
         << kNames[static_cast<size_t>(deviation.choice)];
    if (hasWhich(deviation.choice)) {
      text << static_cast<int>(deviation.which);
    }
    separator = " ";
  }
  return text.str();
}

bool fromText(const std::string& text, Schedule* out) {
  out->clear();
  std::istringstream words(text);
  std::string word;
  while (words >> word) {
    Deviation deviation;
    std::istringstream head(word);
    char colon = 0;
    std::string choice;
    if (!(head >> deviation.step >> colon >> choice) || colon != ':' ||
        !choiceOf(choice, &deviation) ||
        (!out->empty() && out->back().step >= deviation.step)) {
      return false;
    }
    out->push_back(deviation);
  }
  return true;
}

}  // namespace ubt::chooser
