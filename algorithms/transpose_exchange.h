// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>
#include <gloo/transport/buffer.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/shard_layout.h"

namespace gloo {

// x[i] = x[i] op y[i] for `count` elements.
using ReduceInto = std::function<void(void* x, const void* y, size_t count)>;

// The engine of TransposeAllreduce<T>, which knows elements only as bytes.
//
// Segments of all shards travel in step: segment s of every shard is scattered,
// reduced and broadcast before s + kWindow is sent. An owner's broadcast of
// segment s is at the same time its permission to send it s + kWindow, for it
// has consumed s by then. The same holds from one run to the next, so that no
// barrier and no notification is needed, and the inboxes stay small.
//
// Threading: one thread at a time. `pointers` must outlive the object.
class TransposeExchange {
 public:
  TransposeExchange(const std::shared_ptr<Context>& context,
                    std::vector<void*> pointers,
                    size_t count,
                    size_t elementSize,
                    ReduceInto reduce);

  // Throws IoException when a peer fails or the context's timeout passes, or
  // if the ranks bring different numbers or sizes of elements, which the first
  // run finds out; the object cannot be used after that.
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

  // What a rank brings.
  struct Shape {
    uint64_t count;
    uint64_t elementSize;
  };

  struct Peer {
    int rank;
    BufferPtr shapeRecv;  // into shapes_; both of the first run only
    BufferPtr shapeSend;
    uint8_t* inbox;           // kWindow segments of contributions to our shard
    BufferPtr scatterRecv;    // into inbox
    BufferPtr broadcastRecv;  // into the peer's shard of pointers_[0]
    std::vector<SendSlot> scatterSend;    // one for each segment in the window
    std::vector<SendSlot> broadcastSend;  // likewise
  };

  void agree();
  void tellShapes();
  void connect(Peer& peer, int scatterSlot, int broadcastSlot);
  void scatter(size_t segment);
  void reduce(size_t segment);
  void broadcast(size_t segment);
  void receiveBroadcast(size_t segment);
  void reduceInputs(ShardLayout::Range range);
  void copyToOutputs(ShardLayout::Range range);
  uint8_t* at(size_t input, size_t element) const;

  const std::shared_ptr<Context> context_;
  const std::vector<void*> pointers_;
  const size_t count_;
  const size_t elementSize_;
  const ReduceInto reduce_;
  const ShardLayout layout_;
  const size_t window_;  // segments of one shard under way
  std::unique_ptr<uint8_t[]> inboxes_;
  std::vector<Peer> peers_;    // in rank order
  std::vector<Shape> shapes_;  // by rank
  bool agreed_ = false;
};

}  // namespace gloo
