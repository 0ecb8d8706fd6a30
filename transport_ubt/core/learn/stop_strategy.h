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

  // An op begins here: its caller has entered it.
  virtual void begins(TimePoint now, const OpShape& shape) = 0;
  // An op that had begun returns with a result; returned() follows. An op that
  // fails never ends, and its context fails with it. REQUIRES that an op has
  // begun and not ended.
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
