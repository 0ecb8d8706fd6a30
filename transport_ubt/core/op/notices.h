// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/retries.h"

namespace ubt {

// The records that an op repeats to a rank until the rank answers, or that it
// sends at a limited rate. Requests for slots are in StageRun.
struct Notices {
  explicit Notices(int ranks)
      : announcement(ranks), doneQuery(ranks), closed(ranks), held(1) {}

  Retries announcement;  // this rank has entered
  Retries doneQuery;     // is the op done there? After the caller has left.
  Retries closed;        // the scatter stage is over: its data comes too late
  // To all ranks: the op's progress. The op is complete, but it has no room to
  // keep the own shard, so it ends only when no rank lacks that.
  Retries held;
};

}  // namespace ubt
