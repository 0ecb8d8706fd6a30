// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>
#include <gloo/transport/buffer.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/rank_groups.h"
#include "algorithms/shard_layout.h"

namespace gloo {

// x[i] = x[i] op y[i] for `count` elements.
using ReduceInto = std::function<void(void* x, const void* y, size_t count)>;

// What an allreduce of the class form works on.
struct TransposeElements {
  std::vector<void*> pointers;  // to as many elements each
  size_t count;
  size_t elementSize;
  ReduceInto reduce;
};

// A transpose allreduce whose ranks agree on elements and groups.
//
// Segments of all shards travel in step: segment s of every shard is scattered,
// reduced and broadcast before s + kWindow is sent. An owner's broadcast of
// segment s is at the same time its permission to send it s + kWindow, for it
// has consumed s by then. The same holds from one run to the next, so that no
// barrier and no notification is needed, and the inboxes stay small.
//
// Owners in different groups get no such permission from each other. But they
// take turns: one that sends its group's sum of a segment has got all others'
// of the one before, who then had those before that. The last segment of a
// shard may be empty: so with places for three, filled in turn from one run to
// the next, the next one is always free.
//
// Threading: one thread at a time. The elements must outlive the object.
class TransposeEngine {
 public:
  struct Slots {
    int scatter;
    int exchange;
    int broadcast;

    // The context's next ones.
    static Slots take(Context& context);
  };

  // The same elements and groups on all ranks. Nobody may run() before all
  // have been constructed.
  TransposeEngine(const std::shared_ptr<Context>& context,
                  TransposeElements elements,
                  RankGroups groups,
                  const Slots& slots);

  // Throws IoException when a peer fails or the context's timeout passes; the
  // object cannot be used after that.
  void run();

 private:
  using BufferPtr = std::unique_ptr<transport::Buffer>;

  // A place to send from, with at most one send under way: Gloo does not guard
  // a buffer's count of sends against two at once.
  struct SendSlot {
    BufferPtr buffer;
    bool pending = false;

    void send(size_t offset, size_t bytes, size_t remoteOffset);
    void wait();
  };

  // Another member of this rank's group. Sends have a slot for each of the
  // receiver's or the sender's shards and each segment in the window.
  struct Peer {
    int rank;
    RankGroups::Shards shards;
    uint8_t* inbox;           // a window of contributions to each of our shards
    BufferPtr scatterRecv;    // into inbox
    BufferPtr broadcastRecv;  // into the peer's shards of pointers[0]
    std::vector<SendSlot> scatterSend;    // of our contributions to its shards
    std::vector<SendSlot> broadcastSend;  // of our shards' results
  };

  // A rank of another group that owns what we own.
  struct Partner {
    int rank;
    RankGroups::Shards shared;
    uint8_t* inbox;  // kPlaces of its group's sums of each shared shard
    BufferPtr recv;  // into inbox
    std::vector<SendSlot> send;  // of our group's sums, likewise
  };

  void connectPeer(int rank, const Slots& slots);
  void connectPartner(int rank, const Slots& slots);
  uint8_t* newInbox(size_t segments);
  std::vector<SendSlot> newSendSlots(
      int rank, int slot, size_t count, uint8_t* memory, size_t bytes) const;

  void scatter(size_t segment);
  void reduce(size_t segment);
  void reduceGroup(size_t segment);
  void combineGroups(size_t segment);
  void receiveBroadcast(size_t segment);

  const uint8_t* foldContributions(int shard,
                                   size_t segment,
                                   ShardLayout::Range range);
  const uint8_t* groupSum(int group, int shard, size_t segment);
  void broadcast(int shard, size_t segment, ShardLayout::Range range);
  void reduceInputs(ShardLayout::Range range);
  void copyToOutputs(ShardLayout::Range range);
  void waitSent();

  // Calls act(slot, place) for each partner that takes this group's sum.
  template <typename Act>
  void forPartners(int shard, size_t segment, Act&& act);
  // Which place, of those for some shards, a message belongs into.
  size_t windowPlace(size_t shard, size_t segment) const;
  size_t exchangePlace(size_t shard, size_t segment) const;
  size_t segmentBytes() const;
  size_t bytes(ShardLayout::Range range) const;
  uint8_t* at(size_t input, size_t element) const;

  const std::shared_ptr<Context> context_;
  const TransposeElements elements_;
  const RankGroups groups_;
  const int group_;                // this rank's
  const RankGroups::Shards mine_;  // that this rank owns
  const ShardLayout layout_;
  const size_t window_;  // segments of one shard under way
  std::vector<std::unique_ptr<uint8_t[]>> inboxes_;
  std::vector<Peer> peers_;          // in rank order
  std::vector<Partner> partners_;    // in rank order
  std::vector<Partner*> partnerOf_;  // by rank
  uint8_t* sums_ = nullptr;  // kPlaces of this group's sums of our shards
  size_t exchanged_ = 0;     // segments, in the runs before this one
};

}  // namespace gloo
