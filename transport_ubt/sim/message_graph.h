// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ubt::sim {

// An exact allreduce as messages over reliable connections, each of which
// leaves once its sender has what it builds on: a gate that is open.
class MessageGraph {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr const char* kNames[] = {"ring",
                                           "halving_doubling",
                                           "tree",
                                           "transpose",
                                           "hierarchical_transpose"};

  struct Message {
    int from = 0;
    int to = 0;
    uint64_t bytes = 0;
    uint32_t waitsFor = kNone;  // a gate of the sender's
    uint32_t opens = kNone;     // a gate of the receiver's
  };

  // Opens with so many arrivals, and then counts as one at another.
  struct Gate {
    uint32_t arrivals = 0;
    uint32_t opens = kNone;
  };

  // Of so many ranks, which sum so many bytes. A name is one of kNames, the
  // last in `groups` of as many ranks each; throws std::invalid_argument of
  // another, or where ranks cannot be divided so.
  static MessageGraph of(const std::string& name,
                         int ranks,
                         uint64_t bytes,
                         int groups);

  const std::vector<Message>& messages() const { return messages_; }
  const std::vector<Gate>& gates() const { return gates_; }

 private:
  explicit MessageGraph(int ranks) : ranks_(ranks) {}

  static MessageGraph ring(int ranks, uint64_t bytes);
  static MessageGraph halvingDoubling(int ranks, uint64_t bytes);
  static MessageGraph tree(int ranks, uint64_t bytes);
  static MessageGraph transpose(int ranks, uint64_t bytes, int groups);

  uint32_t gate(uint32_t arrivals);
  void add(int from, int to, uint64_t bytes, uint32_t waits, uint32_t opens);
  void addTree(uint64_t bytes, int shift);

  const int ranks_;
  std::vector<Message> messages_;
  std::vector<Gate> gates_;
};

}  // namespace ubt::sim
