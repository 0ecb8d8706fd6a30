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
#include "algorithms/segment_layout.h"

namespace gloo {

// x[i] = x[i] op y[i] for `count` elements.
using ReduceInto = std::function<void(void* x, const void* y, size_t count)>;

// The elements of a class-form allreduce.
struct TransposeElements {
  std::vector<void*> pointers;  // to `count` elements each
  size_t count;
  size_t elementSize;
  ReduceInto reduce;
};

// A transpose allreduce whose ranks agree on elements and groups.
//
// Segments of all shards travel in step: segment s of every shard is scattered,
// reduced and broadcast before s + kWindow is sent. An owner's broadcast of
// segment s is also its permission to send it s + kWindow, because it has
// consumed s by then. The same holds from one run to the next. So no barrier
// and no notification is needed, and the inboxes stay small.
//
// Owners in different groups get no such permission from each other. But an
// owner that sends its group's sum of segment s has received the other groups'
// sums of s - 1. Their owners had received all sums of s - 2 before they sent
// these. The last segment of a shard may be empty. So with three places, filled
// in turn from one run to the next, the next place is always free.
//
// Threading: one thread at a time. The elements must outlive the object.
class TransposeEngine {
 public:
  struct Slots {
    int scatter;
    int exchange;
    int broadcast;

    // Takes the context's next slots.
    static Slots take(Context& context);
  };

  // REQUIRES: the same elements and groups on all ranks. No rank may run()
  // before all have constructed theirs.
  TransposeEngine(const std::shared_ptr<Context>& context,
                  TransposeElements elements,
                  RankGroups groups,
                  const Slots& slots);

  // Throws IoException when a peer fails or the context's timeout passes; the
  // object cannot be used after that.
  void run();

 private:
  using BufferPtr = std::unique_ptr<transport::Buffer>;

  // A place to send from, with at most one send in flight: Gloo does not
  // protect a buffer's count of sends against two at once.
  struct SendSlot {
    BufferPtr buffer;
    bool pending = false;

    void send(size_t offset, size_t bytes, size_t remoteOffset);
    void wait();
  };

  // Another member of this rank's group. There is a send slot for each segment
  // in the window of each shard: the peer's shards for scatterSend, ours for
  // broadcastSend.
  struct Peer {
    int rank;
    RankGroups::Shards shards;
    uint8_t* inbox;           // a window of contributions to each of our shards
    BufferPtr scatterRecv;    // into inbox
    BufferPtr broadcastRecv;  // into the peer's shards of pointers[0]
    std::vector<SendSlot> scatterSend;    // of our contributions to its shards
    std::vector<SendSlot> broadcastSend;  // of our shards' results
  };

  // A rank of another group that shares shards with us.
  struct Partner {
    int rank;
    RankGroups::Shards shared;
    uint8_t* inbox;  // kPlaces sums of its group for each shared shard
    BufferPtr recv;  // into inbox
    std::vector<SendSlot> send;  // of our group's sums, kPlaces for each shard
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
                                   SegmentLayout::Range range);
  const uint8_t* groupSum(int group, int shard, size_t segment);
  void broadcast(int shard, size_t segment, SegmentLayout::Range range);
  void reduceInputs(SegmentLayout::Range range);
  void copyToOutputs(SegmentLayout::Range range);
  void waitSent();

  // Calls act(slot, place) for each partner that gets this group's sum.
  template <typename Act>
  void forPartners(int shard, size_t segment, Act&& act);
  // The place of a message among those for several shards.
  size_t windowPlace(size_t shard, size_t segment) const;
  size_t exchangePlace(size_t shard, size_t segment) const;
  size_t segmentBytes() const;
  size_t bytes(SegmentLayout::Range range) const;
  uint8_t* at(size_t input, size_t element) const;

  const std::shared_ptr<Context> context_;
  const TransposeElements elements_;
  const RankGroups groups_;
  const int group_;                // this rank's
  const RankGroups::Shards mine_;  // owned by this rank
  const SegmentLayout layout_;
  const size_t window_;  // segments of one shard in flight
  std::vector<std::unique_ptr<uint8_t[]>> inboxes_;
  std::vector<Peer> peers_;          // in rank order
  std::vector<Partner> partners_;    // in rank order
  std::vector<Partner*> partnerOf_;  // by rank
  uint8_t* sums_ = nullptr;          // our shards' sums, kPlaces for each
  size_t exchanged_ = 0;             // segments, in earlier runs
};

}  // namespace gloo
