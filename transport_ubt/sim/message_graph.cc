// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/message_graph.h"

#include <algorithm>
#include <stdexcept>

namespace ubt::sim {
namespace {

// The bytes that a tree passes on at once: few enough for a pipeline of many
// levels.
constexpr uint64_t kTreeChunkBytes = 32 << 10;

// A message that only tells something: Gloo's have an int.
constexpr uint64_t kNoticeBytes = 4;

uint64_t share(uint64_t bytes, int parts) {
  return (bytes + parts - 1) / parts;
}

}  // namespace

MessageGraph MessageGraph::of(const std::string& name,
                              int ranks,
                              uint64_t bytes,
                              int groups) {
  if (needsPowerOf2(name) && (ranks & (ranks - 1)) != 0) {
    throw std::invalid_argument(name + ": needs a power of 2 ranks");
  }
  if (name == "ring") {
    return ring(ranks, bytes);
  }
  if (name == "ring_chunked") {
    return ringChunked(ranks, bytes);
  }
  if (name == "halving_doubling") {
    return halvingDoubling(ranks, bytes);
  }
  if (name == "bcube") {
    return bcube(ranks, bytes);
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
      ": no such algorithm; there are ring, ring_chunked, halving_doubling, "
      "bcube, tree, transpose and hierarchical_transpose");
}

uint32_t MessageGraph::gate(uint32_t arrivals) {
  gates_.push_back({arrivals, kNone});
  return static_cast<uint32_t>(gates_.size() - 1);
}

uint32_t MessageGraph::gateAfter(uint32_t before, uint32_t arrivals) {
  const uint32_t after = gate(arrivals + (before != kNone));
  if (before != kNone) {
    gates_[before].opens = after;
  }
  return after;
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

// Gloo's AllreduceRingChunked. A shard is two chunks, and a rank has an inbox
// for each. So it sends two chunks at once. It passes each later one on after
// it has emptied an inbox, told the left neighbour so, and heard the same from
// the right one.
MessageGraph MessageGraph::ringChunked(int ranks, uint64_t bytes) {
  MessageGraph graph(ranks);
  if (ranks == 1) {
    return graph;
  }
  const int chunks = 4 * (ranks - 1);  // that a rank sends
  // By chunk and receiver: it has come. By chunk and sender: the inbox of the
  // one after the next is free.
  std::vector<std::vector<uint32_t>> come(chunks);
  std::vector<std::vector<uint32_t>> free(chunks);
  std::vector<uint32_t> last(ranks, kNone);
  for (int chunk = 0; chunk < chunks; chunk++) {
    for (uint32_t& gate : last) {
      gate = graph.gateAfter(gate, 1);
      come[chunk].push_back(gate);
      if (chunk + 2 < chunks) {
        gate = graph.gateAfter(gate, 1);
        free[chunk].push_back(gate);
      }
    }
  }
  for (int chunk = 0; chunk < chunks; chunk++) {
    for (int rank = 0; rank < ranks; rank++) {
      const int right = (rank + 1) % ranks;
      graph.add(rank,
                right,
                share(bytes, 2 * ranks),
                chunk < 2 ? kNone : free[chunk - 2][rank],
                come[chunk][right]);
      if (chunk + 2 < chunks) {
        graph.add(
            right, rank, kNoticeBytes, come[chunk][right], free[chunk][rank]);
      }
    }
  }
  // Nobody begins the next allreduce before the right neighbour has ended.
  for (int rank = 0; rank < ranks; rank++) {
    const int right = (rank + 1) % ranks;
    graph.add(right, rank, kNoticeBytes, come[chunks - 1][right], kNone);
  }
  return graph;
}

// Ranks exchange halves with ever nearer partners. Then they double them with
// ever more distant ones.
MessageGraph MessageGraph::halvingDoubling(int ranks, uint64_t bytes) {
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

// Gloo's AllreduceBcube with base 2: halvings with ever more distant partners,
// then doublings with ever nearer ones. A rank doubles with a partner only
// after the partner has told that it has used the half.
MessageGraph MessageGraph::bcube(int ranks, uint64_t bytes) {
  MessageGraph graph(ranks);
  if (ranks == 1) {
    return graph;
  }
  std::vector<uint32_t> last(ranks, kNone);
  std::vector<std::vector<uint32_t>> used;  // by halving and rank
  for (int distance = 1; distance < ranks; distance *= 2) {
    const std::vector<uint32_t> before = last;
    for (uint32_t& gate : last) {
      gate = graph.gateAfter(gate, 1);
    }
    used.push_back(last);
    for (int rank = 0; rank < ranks; rank++) {
      const int to = rank ^ distance;
      graph.add(rank, to, share(bytes, 2 * distance), before[rank], last[to]);
    }
  }
  for (int distance = ranks / 2; distance > 0; distance /= 2) {
    std::vector<uint32_t> told;
    for (uint32_t& gate : last) {
      gate = graph.gateAfter(gate, 1);
      told.push_back(gate);
      gate = graph.gateAfter(gate, 1);
    }
    for (int rank = 0; rank < ranks; rank++) {
      const int to = rank ^ distance;
      graph.add(rank, to, kNoticeBytes, used.back()[rank], told[to]);
      graph.add(rank, to, share(bytes, 2 * distance), told[rank], last[to]);
    }
    used.pop_back();
  }
  // The next allreduce begins once the first partner has ended this one.
  for (int rank = 0; rank < ranks; rank++) {
    graph.add(rank, rank ^ 1, kNoticeBytes, last[rank], kNone);
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
