// SPDX-License-Identifier: Apache-2.0
//
// Prints the tables of docs/configuration.md. With the page's path, writes them
// into the page, in place of its rows.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "transport_ubt/config/setting_table.h"

namespace {

using ubt::Setting;
using ubt::settingTable;

// A table follows its mark.
constexpr char kVariables[] = "<!-- variables -->";
constexpr char kExperiments[] = "<!-- experiments -->";

std::string rows(Setting::Kind kind) {
  std::string text;
  for (const Setting& setting : settingTable()) {
    if (setting.kind == kind) {
      const bool variable = kind == Setting::Kind::kVariable;
      text += "| `" + (variable ? setting.variable() : setting.name) + "` | " +
              setting.values + " | " + setting.preset + " | " +
              setting.meaning + " |\n";
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string tables[] = {rows(Setting::Kind::kVariable),
                                rows(Setting::Kind::kExperiment)};
  if (argc < 2) {
    std::printf("%s\n%s", tables[0].c_str(), tables[1].c_str());
    return 0;
  }
  std::ifstream in(argv[1]);
  std::string page;
  const std::string* table = nullptr;  // to write next
  bool inRows = false;
  for (std::string line; std::getline(in, line);) {
    table = line == kVariables     ? &tables[0]
            : line == kExperiments ? &tables[1]
                                   : table;
    inRows = inRows && line.rfind('|', 0) == 0;
    if (!inRows) {
      page += line + "\n";
    }
    if (table != nullptr && line.rfind("|---", 0) == 0) {
      page += *table;
      table = nullptr;
      inRows = true;  // the old rows follow
    }
  }
  in.close();
  std::ofstream(argv[1]) << page;
  return 0;
}
