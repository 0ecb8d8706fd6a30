// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/message_graph.h"

#include <algorithm>
#include <stdexcept>

namespace ubt::sim {
namespace {

// The bytes that a tree passes on at once: few enough for a pipeline of many
// levels.
constexpr uint64_t kTreeChunkBytes = 32 << 10;

uint64_t share(uint64_t bytes, int parts) {
  return (bytes + parts - 1) / parts;
}

}  // namespace

MessageGraph MessageGraph::of(const std::string& name,
                              int ranks,
                              uint64_t bytes,
                              int groups) {
  if (name == "ring") {
    return ring(ranks, bytes);
  }
  if (name == "halving_doubling") {
    return halvingDoubling(ranks, bytes);
  }
  if (name == "tree") {
    return tree(ranks, bytes);
  }
  if (name == "transpose") {
    return transpose(ranks, bytes, 1);
  }
  if (name == "hierarchical_transpose") {
    return transpose(ranks, bytes, groups);
  }
  throw std::invalid_argument(
      name +
      ": no such algorithm; there are ring, halving_doubling, tree, transpose "
      "and hierarchical_transpose");
}

uint32_t MessageGraph::gate(uint32_t arrivals) {
  gates_.push_back({arrivals, kNone});
  return static_cast<uint32_t>(gates_.size() - 1);
}

void MessageGraph::add(
    int from, int to, uint64_t bytes, uint32_t waits, uint32_t opens) {
  messages_.push_back({from, to, bytes, waits, opens});
}

// Each shard goes round twice: first it is summed, then the sum is passed on.
MessageGraph MessageGraph::ring(int ranks, uint64_t bytes) {
  MessageGraph graph(ranks);
  std::vector<uint32_t> waits(ranks, kNone);
  for (int step = 0; step < 2 * (ranks - 1); step++) {
    std::vector<uint32_t> next(ranks);
    for (uint32_t& gate : next) {
      gate = graph.gate(1);
    }
    for (int rank = 0; rank < ranks; rank++) {
      const int to = (rank + 1) % ranks;
      graph.add(rank, to, share(bytes, ranks), waits[rank], next[to]);
    }
    waits = next;
  }
  return graph;
}

// Ranks exchange halves with ever nearer partners. Then they double them with
// ever more distant ones.
MessageGraph MessageGraph::halvingDoubling(int ranks, uint64_t bytes) {
  if ((ranks & (ranks - 1)) != 0) {
    throw std::invalid_argument("halving_doubling: needs a power of 2 ranks");
  }
  MessageGraph graph(ranks);
  std::vector<int> distances;
  for (int distance = ranks / 2; distance > 0; distance /= 2) {
    distances.push_back(distance);
  }
  const size_t halvings = distances.size();
  distances.insert(distances.end(), distances.rbegin(), distances.rend());
  std::vector<uint32_t> waits(ranks, kNone);
  for (size_t step = 0; step < distances.size(); step++) {
    const size_t depth = step < halvings ? step + 1 : 2 * halvings - step;
    std::vector<uint32_t> next(ranks);
    for (uint32_t& gate : next) {
      gate = graph.gate(1);
    }
    for (int rank = 0; rank < ranks; rank++) {
      const int to = rank ^ distances[step];
      graph.add(rank, to, share(bytes, 1 << depth), waits[rank], next[to]);
    }
    waits = next;
  }
  return graph;
}

// Two binary trees of all ranks, each for half of the data. Most ranks that
// pass data on in one tree are leaves of the other (Sanders, Speck and Traeff
// 2009; NCCL).
MessageGraph MessageGraph::tree(int ranks, uint64_t bytes) {
  MessageGraph graph(ranks);
  graph.addTree(share(bytes, 2), 0);
  graph.addTree(share(bytes, 2), 1);
  return graph;
}

// The lowest set bit of a place is its level. Odd places are leaves; in the
// other tree, shifted by one, even ones are. Place 0 is the root.
void MessageGraph::addTree(uint64_t bytes, int shift) {
  std::vector<int> parent(ranks_, -1);
  std::vector<int> children(ranks_, 0);
  const auto rankAt = [&](int place) { return (place + shift) % ranks_; };
  for (int place = 1; place < ranks_; place++) {
    const int level = place & -place;
    const int below = place ^ level;  // the parent on one side; on the other:
    const int above = below | level << 1;
    const int up = rankAt(above < ranks_ ? above : below);
    parent[rankAt(place)] = up;
    children[up]++;
  }
  for (uint64_t at = 0; at < bytes; at += kTreeChunkBytes) {
    const uint64_t chunk = std::min(kTreeChunkBytes, bytes - at);
    std::vector<uint32_t> summed(ranks_, kNone);
    std::vector<uint32_t> known(ranks_, kNone);
    for (int rank = 0; rank < ranks_; rank++) {
      if (children[rank] > 0) {
        summed[rank] = gate(children[rank]);
      }
      // The root knows the sum once it has computed it.
      known[rank] = parent[rank] < 0 ? summed[rank] : gate(1);
    }
    for (int rank = 0; rank < ranks_; rank++) {
      if (parent[rank] >= 0) {
        add(rank, parent[rank], chunk, summed[rank], summed[parent[rank]]);
        add(parent[rank], rank, chunk, known[parent[rank]], known[rank]);
      }
    }
  }
}

// Contributions go to the owners in the group, sums go to co-owners, and
// results go to the members of the group.
MessageGraph MessageGraph::transpose(int ranks, uint64_t bytes, int groups) {
  if (groups < 1 || ranks % groups != 0) {
    throw std::invalid_argument("groups: " + std::to_string(ranks) +
                                " ranks cannot be divided into " +
                                std::to_string(groups));
  }
  MessageGraph graph(ranks);
  const int members = ranks / groups;
  const uint64_t shard = share(bytes, members);
  std::vector<uint32_t> summed(ranks, kNone);
  std::vector<uint32_t> exchanged(ranks, kNone);
  for (int rank = 0; rank < ranks; rank++) {
    summed[rank] = members > 1 ? graph.gate(members - 1) : kNone;
    exchanged[rank] = summed[rank];
    if (groups > 1) {
      exchanged[rank] = graph.gate(groups - 1 + (members > 1));
      if (members > 1) {
        graph.gates_[summed[rank]].opens = exchanged[rank];
      }
    }
  }
  // Each rank sends to the next rank first, then to the one after that.
  for (int i = 1; i < members; i++) {
    for (int rank = 0; rank < ranks; rank++) {
      const int group = rank / members * members;
      const int to = group + (rank + i) % members;
      graph.add(rank, to, shard, kNone, summed[to]);
    }
  }
  for (int i = 1; i < groups; i++) {
    for (int rank = 0; rank < ranks; rank++) {
      const int to = (rank + i * members) % ranks;
      graph.add(rank, to, shard, summed[rank], exchanged[to]);
    }
  }
  for (int i = 1; i < members; i++) {
    for (int rank = 0; rank < ranks; rank++) {
      const int group = rank / members * members;
      const int to = group + (rank + i) % members;
      graph.add(rank, to, shard, exchanged[rank], kNone);
    }
  }
  return graph;
}

}  // namespace ubt::sim
