// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/shard_sum.h"

#include <cmath>

namespace ubt::sim {
namespace {

// The contributions of one form.
struct FormSum {
  FormSum(size_t elements, size_t runs) : values(elements), in(runs) {}

  // Scales each run as if all `ranks` had contributed to it.
  void rescale(const std::vector<Run>& runs) {
    for (size_t k = 0; k < runs.size(); k++) {
      for (size_t i = runs[k].begin; in[k] > 0 && i < runs[k].end; i++) {
        values[i] *= static_cast<double>(ranks) / in[k];
      }
    }
  }

  ShardSum::Values values;
  std::vector<int> in;  // contributors, by run
  int ranks = 0;        // that contributed to any run
};

}  // namespace

ShardSum::ShardSum(const std::vector<Run>& runs,
                   const std::vector<bool>& sentTransformed,
                   const std::function<Values(int rank)>& contribution,
                   const std::function<void(Values*)>& inverse) {
  const size_t elements = runs.empty() ? 0 : runs.back().end;
  FormSum plain(elements, runs.size());
  FormSum coefficients(elements, runs.size());
  for (size_t rank = 0; rank < sentTransformed.size(); rank++) {
    Values brought;
    FormSum& sum = sentTransformed[rank] ? coefficients : plain;
    for (size_t k = 0; k < runs.size(); k++) {
      if (!runs[k].in[rank]) {
        continue;
      }
      if (brought.empty()) {
        brought = contribution(static_cast<int>(rank));
        sum.ranks++;
      }
      sum.in[k]++;
      for (size_t i = runs[k].begin; i < runs[k].end; i++) {
        sum.values[i] += brought[i];
        magnitude += std::abs(brought[i]);
      }
    }
  }
  anyIn = plain.ranks + coefficients.ranks > 0;
  transformed = plain.ranks == 0;
  plain.rescale(runs);
  coefficients.rescale(runs);
  if (coefficients.ranks > 0 && !transformed) {
    inverse(&coefficients.values);
  }
  values.resize(elements);
  for (size_t k = 0; k < runs.size(); k++) {
    const int in = plain.in[k] + coefficients.in[k];
    // Once transformed back, coefficients cover every element.
    const int held = coefficients.ranks + (plain.in[k] > 0 ? plain.ranks : 0);
    const double scale =
        in > 0 ? static_cast<double>(sentTransformed.size()) / held : 0;
    for (size_t i = runs[k].begin; i < runs[k].end; i++) {
      values[i] = (plain.values[i] + coefficients.values[i]) * scale;
    }
  }
}

}  // namespace ubt::sim
