// SPDX-License-Identifier: Apache-2.0
#include "algorithms/context_groups.h"

#include <gloo/common/error.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "transport_ubt/bounded/farewell.h"
#include "transport_ubt/bounded/mesh_slots.h"

namespace gloo {
namespace {

static_assert(std::is_trivially_copyable<GroupWish>::value,
              "wishes travel as bytes");

std::vector<GroupWish> swapWishes(const ubt::Mesh& mesh,
                                  GroupWish own,
                                  const MeshDeadline& deadline) {
  std::vector<GroupWish> all(mesh.size);
  all[mesh.rank] = own;
  const auto incoming =
      mesh.createUnboundBuffer(all.data(), all.size() * sizeof(own));
  const auto outgoing = mesh.createUnboundBuffer(&own, sizeof(own));
  for (int rank = 0; rank < mesh.size; rank++) {
    if (rank != mesh.rank) {
      incoming->recv(
          rank, ubt::MeshSlots::kGroups, rank * sizeof(own), sizeof(own));
      outgoing->send(rank, ubt::MeshSlots::kGroups);
    }
  }
  try {
    for (int peers = mesh.size - 1; peers > 0; peers--) {
      incoming->waitRecv(deadline.remaining());
      outgoing->waitSend(deadline.remaining());
    }
  } catch (const ::gloo::IoException& error) {
    throw ::gloo::IoException(
        std::string(error.what()) +
        " (while ranks agree on the groups of a hierarchical transpose; do all "
        "ranks call one?)");
  }
  return all;
}

// All ranks get the same groups, or the same exception.
std::shared_ptr<const RankGroups> agreed(const std::vector<GroupWish>& wishes,
                                         const ubt::Mesh& mesh,
                                         const MeshDeadline& deadline) {
  try {
    return std::make_shared<const RankGroups>(agreedGroups(wishes));
  } catch (const ::gloo::Exception&) {
    ubt::bidFarewell(mesh, deadline.remaining());
    throw;
  }
}

}  // namespace

ContextGroups::GroupsPtr ContextGroups::of(
    const std::shared_ptr<Context>& context,
    const ubt::Mesh& mesh,
    const MeshDeadline& deadline,
    const std::function<GroupWish()>& wish) {
  const auto entry = entryOf(context);
  std::lock_guard<std::mutex> lock(entry->mutex);
  if (entry->failure != nullptr) {
    std::rethrow_exception(entry->failure);
  }
  if (entry->groups == nullptr) {
    try {
      const auto wishes = swapWishes(mesh, wish(), deadline);
      entry->groups = agreed(wishes, mesh, deadline);
    } catch (...) {
      entry->failure = std::current_exception();
      throw;
    }
  }
  return entry->groups;
}

std::shared_ptr<ContextGroups::Entry> ContextGroups::entryOf(
    const std::shared_ptr<Context>& context) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(context.get());
  // A new context may have the address of a destroyed one.
  if (found != entries_.end() && found->second->context.lock() == context) {
    return found->second;
  }
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    entry = entry->second->context.expired() ? entries_.erase(entry)
                                             : std::next(entry);
  }
  auto fresh = std::make_shared<Entry>();
  fresh->context = context;
  entries_[context.get()] = fresh;
  return fresh;
}

}  // namespace gloo
