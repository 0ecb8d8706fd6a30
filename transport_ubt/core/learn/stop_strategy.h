// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/wire/op_id.h"

namespace ubt {

// Learns from ops when stages of later ops may end (Options::loops). Not
// thread-safe.
class StopStrategy {
 public:
  virtual ~StopStrategy() = default;

  // An op begins here, and is over.
  virtual void begins(TimePoint now, const OpShape& shape) = 0;
  virtual void ends() = 0;

  // The rules of an op. `lateness`: of this host. `limit`: the longest time
  // that the call may take.
  virtual OpBounds boundsFor(const OpShape& shape,
                             Duration lateness,
                             Duration limit) = 0;

  // An op has returned here with a result.
  virtual void returned(const OpSample& op) = 0;
  // It is done everywhere: all ranks have entered it.
  virtual void done(const OpSample& op) = 0;
};

}  // namespace ubt
