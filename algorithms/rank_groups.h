// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/bounded/group_wish.h"
#include "transport_ubt/core/base/rank_groups.h"

namespace gloo {

// Groups belong to the transport, because its bounded allreduce has them, too.
using RankGroups = ::ubt::RankGroups;
using transport::ubt::agreedGroups;
using transport::ubt::GroupWish;
using transport::ubt::whyNotGrouped;

}  // namespace gloo
