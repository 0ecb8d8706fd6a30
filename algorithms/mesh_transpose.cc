// SPDX-License-Identifier: Apache-2.0
#include "algorithms/mesh_transpose.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "algorithms/mesh_allreduce.h"
#include "algorithms/segment_pipeline.h"
#include "algorithms/shard_layout.h"

namespace gloo {

namespace {

using UnboundBufferPtr = std::unique_ptr<transport::UnboundBuffer>;

constexpr uint8_t kSlotPrefix = 0x54;
constexpr size_t kWindow = 2;

// One operation. Unlike TransposeExchange, it can prepare nothing beforehand:
// every receive is announced to its sender, and the transport holds a message
// back until it is. Announcing a window of segments early hides that.
class Operation {
 public:
  Operation(const transport::ubt::Mesh& mesh,
            const detail::AllreduceOptionsImpl& options)
      : options_(options),
        mesh_(mesh),
        scatterSlot_(meshSlot(kSlotPrefix, options)),
        broadcastSlot_(scatterSlot_ + 1),
        deadline_(options.timeout),
        layout_(options.elements, mesh.size, meshSegmentElements(options)),
        window_(std::min(layout_.segments(), kWindow)) {}

  void run() {
    connect();
    runSegments(
        layout_.segments(),
        window_,
        [this](size_t segment) { scatter(segment); },
        [this](size_t segment) { reduce(segment); },
        [this](size_t segment) { receiveBroadcast(segment); });
    for (; contributionsSent_ > 0; contributionsSent_--) {
      source().waitSend(deadline_.remaining());
    }
    for (; resultsSent_ > 0; resultsSent_--) {
      options_.out[0]->waitSend(deadline_.remaining());
    }
  }

  // All there is to do when there is nobody else.
  void runAlone() {
    const ShardLayout::Range all = {0, options_.elements};
    const void* own = reduceInputs(all);
    if (own != output(all)) {
      std::memcpy(output(all), own, bytes(all));
    }
    copyToOutputs(all);
  }

 private:
  struct Peer {
    int rank;
    uint8_t* inbox;
    UnboundBufferPtr contributions;  // over inbox
    UnboundBufferPtr results;        // over the peer's shard of the output
  };

  void connect() {
    const size_t inboxElements = window_ * layout_.segmentElements();
    const size_t inboxBytes = inboxElements * options_.elementSize;
    inboxes_.reset(new uint8_t[(mesh_.size - 1) * inboxBytes]);
    peers_.reserve(mesh_.size - 1);
    for (int rank = 0; rank < mesh_.size; rank++) {
      if (rank == mesh_.rank) {
        continue;
      }
      uint8_t* const inbox = inboxes_.get() + peers_.size() * inboxBytes;
      const auto shard = layout_.shard(rank);
      peers_.push_back(
          {rank,
           inbox,
           mesh_.createUnboundBuffer(inbox, inboxBytes),
           mesh_.createUnboundBuffer(output(shard), bytes(shard))});
    }
    for (size_t segment = 0; segment < window_; segment++) {
      for (auto& peer : peers_) {
        expectContribution(peer, segment);
        expectResult(peer, segment);
      }
    }
  }

  void expectContribution(Peer& peer, size_t segment) {
    const auto range = layout_.segment(mesh_.rank, segment);
    if (range.count > 0) {
      peer.contributions->recv(
          peer.rank, scatterSlot_, inboxOffset(segment), bytes(range));
    }
  }

  void expectResult(Peer& peer, size_t segment) {
    const auto range = layout_.segment(peer.rank, segment);
    if (range.count > 0) {
      const size_t before = range.offset - layout_.shard(peer.rank).offset;
      peer.results->recv(peer.rank,
                         broadcastSlot_,
                         before * options_.elementSize,
                         bytes(range));
    }
  }

  void scatter(size_t segment) {
    const size_t first = mesh_.rank;
    for (size_t i = 0; i < peers_.size(); i++) {
      auto& peer = peers_[(first + i) % peers_.size()];
      const auto range = layout_.segment(peer.rank, segment);
      if (range.count > 0) {
        reduceInputs(range);
        source().send(peer.rank,
                      scatterSlot_,
                      range.offset * options_.elementSize,
                      bytes(range));
        contributionsSent_++;
      }
    }
  }

  // Folds in rank order. Until our own contribution has been used, it must not
  // be overwritten: the first peer's inbox is the accumulator so long.
  void reduce(size_t segment) {
    const auto range = layout_.segment(mesh_.rank, segment);
    if (range.count == 0) {
      return;
    }
    const void* const own = reduceInputs(range);
    uint8_t* const result = output(range);
    uint8_t* const scratch =
        mesh_.rank <= 1 ? result : peers_[0].inbox + inboxOffset(segment);
    const void* left = nullptr;
    for (int rank = 0; rank < mesh_.size; rank++) {
      const void* right = own;
      if (rank != mesh_.rank) {
        auto& peer = peers_[rank < mesh_.rank ? rank : rank - 1];
        peer.contributions->waitRecv(deadline_.remaining());
        right = peer.inbox + inboxOffset(segment);
      }
      if (left == nullptr) {
        left = right;
        continue;
      }
      const bool last = rank == mesh_.size - 1;
      options_.reduce(last ? result : scratch, left, right, range.count);
      left = scratch;
    }
    for (auto& peer : peers_) {
      if (segment + window_ < layout_.segments()) {
        expectContribution(peer, segment + window_);
      }
      options_.out[0]->send(peer.rank,
                            broadcastSlot_,
                            range.offset * options_.elementSize,
                            bytes(range));
      resultsSent_++;
    }
    copyToOutputs(range);
  }

  void receiveBroadcast(size_t segment) {
    for (auto& peer : peers_) {
      const auto range = layout_.segment(peer.rank, segment);
      if (range.count > 0) {
        peer.results->waitRecv(deadline_.remaining());
        copyToOutputs(range);
      }
      if (segment + window_ < layout_.segments()) {
        expectResult(peer, segment + window_);
      }
    }
  }

  // Returns where this rank's contribution to `range` lies.
  const void* reduceInputs(ShardLayout::Range range) {
    const bool separate = !options_.in.empty();
    const auto& inputs = separate ? options_.in : options_.out;
    const size_t offset = range.offset * options_.elementSize;
    const void* left = pointer(*inputs[0], offset);
    for (size_t i = 1; i < inputs.size() && range.count > 0; i++) {
      options_.reduce(
          output(range), left, pointer(*inputs[i], offset), range.count);
      left = output(range);
    }
    return left;
  }

  // The buffer that contributions are sent from: see reduceInputs.
  transport::UnboundBuffer& source() const {
    return options_.in.size() == 1 ? *options_.in[0] : *options_.out[0];
  }

  void copyToOutputs(ShardLayout::Range range) {
    for (size_t i = 1; i < options_.out.size(); i++) {
      const size_t offset = range.offset * options_.elementSize;
      std::memcpy(
          pointer(*options_.out[i], offset), output(range), bytes(range));
    }
  }

  static uint8_t* pointer(const transport::UnboundBuffer& buffer, size_t at) {
    return static_cast<uint8_t*>(buffer.ptr) + at;
  }

  uint8_t* output(ShardLayout::Range range) const {
    return pointer(*options_.out[0], range.offset * options_.elementSize);
  }

  size_t bytes(ShardLayout::Range range) const {
    return range.count * options_.elementSize;
  }

  size_t inboxOffset(size_t segment) const {
    return segment % window_ * layout_.segmentElements() * options_.elementSize;
  }

  const detail::AllreduceOptionsImpl& options_;
  const transport::ubt::Mesh& mesh_;
  const uint64_t scatterSlot_;
  const uint64_t broadcastSlot_;
  const MeshDeadline deadline_;
  const ShardLayout layout_;
  const size_t window_;  // segments of one shard under way
  std::unique_ptr<uint8_t[]> inboxes_;
  std::vector<Peer> peers_;  // in rank order
  size_t contributionsSent_ = 0;
  size_t resultsSent_ = 0;
};

}  // namespace

void meshTransposeAllreduce(const transport::ubt::Mesh& mesh,
                            const detail::AllreduceOptionsImpl& options) {
  if (options.elements == 0) {
    return;
  }
  Operation operation(mesh, options);
  if (mesh.size == 1) {
    operation.runAlone();
    return;
  }
  runMeshAllreduce("transpose", options, [&] { operation.run(); });
}

}  // namespace gloo
