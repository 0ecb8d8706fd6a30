// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/clock.h"

namespace ubt {

// How long the stages of one op may take, as this rank sees it.
struct OpBounds {
  bool warmup = true;
  Duration scatter{0};    // from the owner's start, and see setScatterDeadline
  Duration exchange{0};   // on top of it; zero where ranks form no groups
  Duration broadcast{0};  // on top of both
  // When an owner gives up other groups' sums, from its start.
  Duration exchangeEnd{0};
  // The call's own end, from local entry at the latest (setEndDeadline).
  Duration end{0};
  Duration limit{0};  // likewise, if it needs every result: its timeout
  // How long to wait for the last of a stage (StageProgress); zero: no less.
  Duration scatterPatience{0};
  Duration broadcastPatience{0};
};

}  // namespace ubt
