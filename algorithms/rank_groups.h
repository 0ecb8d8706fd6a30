// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/bounded/group_wish.h"
#include "transport_ubt/core/base/rank_groups.h"

namespace gloo {

// Groups belong to the transport, because its bounded allreduce has them, too.
using RankGroups = ubt::RankGroups;
using ubt::agreedGroups;
using ubt::GroupWish;
using ubt::whyNotGrouped;

}  // namespace gloo
