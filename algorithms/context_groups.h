// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "algorithms/mesh_allreduce.h"
#include "algorithms/rank_groups.h"
#include "transport_ubt/bounded/mesh.h"

namespace gloo {

// The groups that the ranks of a context have agreed on, for any number of
// contexts. Any thread may call. The first call for a context swaps wishes with
// all other ranks, and other calls wait for it.
class ContextGroups {
 public:
  using GroupsPtr = std::shared_ptr<const RankGroups>;

  // `mesh` is the context's. `wish` is called at most once. Throws the
  // exceptions of agreedGroups(), and IoException if a rank does not answer by
  // the deadline. After that every call throws the same.
  GroupsPtr of(const std::shared_ptr<Context>& context,
               const ubt::Mesh& mesh,
               const MeshDeadline& deadline,
               const std::function<GroupWish()>& wish);

 private:
  struct Entry {
    std::weak_ptr<Context> context;
    std::mutex mutex;  // guards the fields below
    GroupsPtr groups;
    std::exception_ptr failure;
  };

  std::shared_ptr<Entry> entryOf(const std::shared_ptr<Context>& context);

  std::mutex mutex_;
  std::map<const Context*, std::shared_ptr<Entry>> entries_;
};

}  // namespace gloo
