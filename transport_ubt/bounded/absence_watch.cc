// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/absence_watch.h"

namespace ubt {

std::string AbsenceWatch::returned(const OpReport& report) {
  calls_.resize(report.scatter.size());
  std::string ranks;
  for (size_t rank = 0; rank < calls_.size(); rank++) {
    const StageBytes& bytes = report.scatter[rank];
    int& calls = calls_[rank];
    if (bytes.expected == 0 || !report.bounded) {
      continue;
    }
    if (bytes.absent < bytes.expected) {
      calls = calls > kCalls ? calls : 0;
    } else if (calls <= kCalls && ++calls == kCalls) {
      calls++;
      ranks += (ranks.empty() ? "rank " : ", rank ") + std::to_string(rank);
    }
  }
  return ranks.empty()
             ? ""
             : ranks + " entered the last " + std::to_string(kCalls) +
                   " allreduces after their bound, so their sums leave it out. "
                   "Is its host slower than the others'? Balance the work, or "
                   "let the others wait longer: GLOO_UBT_CUT_BUDGET=0, or a "
                   "longer GLOO_UBT_BOUND if you have set one";
}

}  // namespace ubt
