// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/config/nearest.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ubt {

namespace {

// The Levenshtein distance.
size_t editDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); j++) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(const std::string& typed,
                    const std::vector<std::string>& names) {
  std::string best;
  size_t fewest = std::numeric_limits<size_t>::max();
  for (const auto& name : names) {
    const size_t edits = editDistance(typed, name);
    if (edits < fewest) {
      fewest = edits;
      best = name;
    }
  }
  return best;
}

}  // namespace ubt
