// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

// The sample below which a fraction `share` (0 to 1) of all samples lies. With
// an even number of samples, the median is the upper of the two central ones.
// REQUIRES at least one sample.
inline Duration percentile(std::vector<Duration> samples, double share) {
  UBT_REQUIRE(!samples.empty());
  const size_t rank =
      std::min(samples.size() - 1, static_cast<size_t>(share * samples.size()));
  std::nth_element(samples.begin(), samples.begin() + rank, samples.end());
  return samples[rank];
}

}  // namespace ubt
