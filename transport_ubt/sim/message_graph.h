// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ubt::sim {

// An exact allreduce as messages over reliable connections. A message leaves
// once the gate that it waits for is open: its sender then has the data for it.
class MessageGraph {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr const char* kNames[] = {"ring",
                                           "ring_chunked",
                                           "halving_doubling",
                                           "bcube",
                                           "tree",
                                           "transpose",
                                           "hierarchical_transpose"};

  struct Message {
    int from = 0;
    int to = 0;
    uint64_t bytes = 0;
    uint32_t waitsFor = kNone;  // a gate of the sender
    uint32_t opens = kNone;     // a gate of the receiver
  };

  // Opens after `arrivals` arrivals. It then counts as one arrival at `opens`.
  struct Gate {
    uint32_t arrivals = 0;
    uint32_t opens = kNone;
  };

  // An allreduce of `bytes` bytes by `ranks` ranks. `name` is one of kNames.
  // The last one has `groups` groups of equal size. Throws
  // std::invalid_argument if the name is unknown or the ranks cannot be divided
  // in this way.
  static MessageGraph of(const std::string& name,
                         int ranks,
                         uint64_t bytes,
                         int groups);

  // Whether of() needs a power of 2 ranks for this name.
  static bool needsPowerOf2(const std::string& name) {
    return name == "halving_doubling" || name == "bcube";
  }

  const std::vector<Message>& messages() const { return messages_; }
  const std::vector<Gate>& gates() const { return gates_; }

 private:
  explicit MessageGraph(int ranks) : ranks_(ranks) {}

  static MessageGraph ring(int ranks, uint64_t bytes);
  static MessageGraph ringChunked(int ranks, uint64_t bytes);
  static MessageGraph halvingDoubling(int ranks, uint64_t bytes);
  static MessageGraph bcube(int ranks, uint64_t bytes);
  static MessageGraph tree(int ranks, uint64_t bytes);
  static MessageGraph transpose(int ranks, uint64_t bytes, int groups);

  uint32_t gate(uint32_t arrivals);
  // Opens after `arrivals` arrivals and after `before`, a gate of the same
  // rank, or kNone.
  uint32_t gateAfter(uint32_t before, uint32_t arrivals);
  void add(int from, int to, uint64_t bytes, uint32_t waits, uint32_t opens);
  void addTree(uint64_t bytes, int shift);

  const int ranks_;
  std::vector<Message> messages_;
  std::vector<Gate> gates_;
};

}  // namespace ubt::sim
