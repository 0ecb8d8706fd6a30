// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// How long the stages of one op may take, as this rank sees it.
struct OpBounds {
  bool warmup = true;
  Duration scatter{0};    // from the owner's start, and see setScatterDeadline
  Duration exchange{0};   // on top of it; zero where ranks form no groups
  Duration broadcast{0};  // on top of both
  // The call's own end, where it does not need every result: from the start of
  // the clock (setEndDeadline).
  Duration end{0};
  Duration limit{0};  // from local entry: the call's timeout
  // How long to wait for the last of a stage (StageProgress); zero: no less.
  Duration scatterPatience{0};
  Duration broadcastPatience{0};
};

}  // namespace ubt
