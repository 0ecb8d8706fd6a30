// SPDX-License-Identifier: Apache-2.0
#include "algorithms/transpose_exchange.h"

#include <gloo/common/error.h>
#include <gloo/common/logging.h>

#include <cstring>
#include <string>
#include <utility>

#include "algorithms/segment_pipeline.h"

namespace gloo {

namespace {

// Small enough that a segment is still in the cache when it is reduced and
// sent on, large enough that the cost of a message does not matter.
constexpr size_t kSegmentBytesMax = 256 << 10;
constexpr size_t kSegmentBytesMin = 16 << 10;
// For all peers' inboxes together, unless there are so many that even the
// smallest segments need more.
constexpr size_t kInboxBytes = 16 << 20;
constexpr size_t kWindow = 2;

size_t segmentElements(int ranks, size_t elementSize) {
  const size_t share = kInboxBytes / (kWindow * ranks);
  const size_t bytes =
      std::min(std::max(share, kSegmentBytesMin), kSegmentBytesMax);
  return std::max<size_t>(bytes / elementSize, 1);
}

}  // namespace

TransposeExchange::TransposeExchange(const std::shared_ptr<Context>& context,
                                     std::vector<void*> pointers,
                                     size_t count,
                                     size_t elementSize,
                                     ReduceInto reduce)
    : context_(context),
      pointers_(std::move(pointers)),
      count_(count),
      elementSize_(elementSize),
      reduce_(std::move(reduce)),
      layout_(
          count, context->size, segmentElements(context->size, elementSize)),
      window_(std::min(layout_.segments(), kWindow)) {
  GLOO_ENFORCE(!pointers_.empty(), "no buffer to reduce");
  const size_t peers = context_->size - 1;
  // Every rank takes the slots, also one whose shard is empty.
  const int scatterSlot = context_->nextSlot();
  const int broadcastSlot = context_->nextSlot();
  const int shapeSlot = context_->nextSlot();
  shapes_.assign(context_->size, {count_, elementSize_});
  const size_t inboxBytes = window_ * layout_.segmentElements() * elementSize_;
  inboxes_.reset(new uint8_t[peers * inboxBytes]);
  peers_.reserve(peers);
  for (int rank = 0; rank < context_->size; rank++) {
    if (rank != context_->rank) {
      peers_.emplace_back();
      auto& peer = peers_.back();
      peer.rank = rank;
      auto& pair = context_->getPair(rank);
      peer.shapeRecv =
          pair->createRecvBuffer(shapeSlot, &shapes_[rank], sizeof(Shape));
      peer.shapeSend = pair->createSendBuffer(
          shapeSlot, &shapes_[context_->rank], sizeof(Shape));
      peer.inbox = inboxes_.get() + (peers_.size() - 1) * inboxBytes;
      if (count_ > 0) {
        connect(peer, scatterSlot, broadcastSlot);
      }
    }
  }
}

void TransposeExchange::connect(Peer& peer,
                                int scatterSlot,
                                int broadcastSlot) {
  auto& pair = context_->getPair(peer.rank);
  const size_t bytes = count_ * elementSize_;
  const size_t segmentBytes = layout_.segmentElements() * elementSize_;
  peer.scatterRecv =
      pair->createRecvBuffer(scatterSlot, peer.inbox, window_ * segmentBytes);
  const auto shard = layout_.shard(peer.rank);
  peer.broadcastRecv = pair->createRecvBuffer(
      broadcastSlot, at(0, shard.offset), shard.count * elementSize_);
  peer.scatterSend.resize(window_);
  peer.broadcastSend.resize(window_);
  for (size_t i = 0; i < window_; i++) {
    peer.scatterSend[i].buffer =
        pair->createSendBuffer(scatterSlot, pointers_[0], bytes);
    peer.broadcastSend[i].buffer =
        pair->createSendBuffer(broadcastSlot, pointers_[0], bytes);
  }
}

// Messages of an unexpected length would end the process (Gloo's tcp asserts
// that they fit, in a thread of its own) or leave sums of unlike elements.
void TransposeExchange::agree() {
  tellShapes();
  const Shape& own = shapes_[context_->rank];
  for (const auto& peer : peers_) {
    const Shape& other = shapes_[peer.rank];
    if (other.count == own.count && other.elementSize == own.elementSize) {
      continue;
    }
    const auto text = [](const Shape& shape) {
      return std::to_string(shape.count) + " elements of " +
             std::to_string(shape.elementSize) + " bytes";
    };
    const std::string why = "transpose allreduce: rank " +
                            std::to_string(peer.rank) + " brings " +
                            text(other) + ", this rank (" +
                            std::to_string(context_->rank) + ") " + text(own);
    // If any two ranks differ, every rank differs from some: all come by here.
    // Nobody leaves before all have, or some would see closed connections only.
    try {
      tellShapes();
    } catch (const ::gloo::IoException&) {
    }
    throw ::gloo::IoException(why);
  }
  for (auto& peer : peers_) {
    peer.shapeRecv.reset();
    peer.shapeSend.reset();
  }
  agreed_ = true;
}

void TransposeExchange::tellShapes() {
  for (auto& peer : peers_) {
    peer.shapeSend->send();
  }
  for (auto& peer : peers_) {
    peer.shapeRecv->waitRecv();
    peer.shapeSend->waitSend();
  }
}

void TransposeExchange::run() {
  if (!agreed_) {
    agree();
  }
  if (count_ == 0) {
    return;
  }
  if (peers_.empty()) {
    reduceInputs({0, count_});
    copyToOutputs({0, count_});
    return;
  }
  runSegments(
      layout_.segments(),
      window_,
      [this](size_t segment) { scatter(segment); },
      [this](size_t segment) {
        reduce(segment);
        broadcast(segment);
      },
      [this](size_t segment) { receiveBroadcast(segment); });
  for (auto& peer : peers_) {
    for (size_t i = 0; i < window_; i++) {
      peer.scatterSend[i].wait();
      peer.broadcastSend[i].wait();
    }
  }
}

void TransposeExchange::scatter(size_t segment) {
  const size_t place = segment % window_;
  const size_t inboxOffset = place * layout_.segmentElements() * elementSize_;
  // Begin with the next rank, so that not all send to the same one.
  const size_t first = context_->rank;
  for (size_t i = 0; i < peers_.size(); i++) {
    auto& peer = peers_[(first + i) % peers_.size()];
    const auto range = layout_.segment(peer.rank, segment);
    reduceInputs(range);
    peer.scatterSend[place].send(
        range.offset * elementSize_, range.count * elementSize_, inboxOffset);
  }
}

// Folds in rank order. The accumulator is rank 0's contribution: ours, when we
// are rank 0, or else what lies in its inbox.
void TransposeExchange::reduce(size_t segment) {
  const auto range = layout_.segment(context_->rank, segment);
  if (range.count == 0) {
    return;
  }
  const size_t inboxOffset =
      segment % window_ * layout_.segmentElements() * elementSize_;
  uint8_t* const own = at(0, range.offset);
  reduceInputs(range);
  uint8_t* accumulator = context_->rank == 0 ? own : nullptr;
  for (auto& peer : peers_) {
    if (peer.rank == context_->rank + 1 && accumulator != own) {
      reduce_(accumulator, own, range.count);
    }
    peer.scatterRecv->waitRecv();
    if (accumulator == nullptr) {
      accumulator = peer.inbox + inboxOffset;
    } else {
      reduce_(accumulator, peer.inbox + inboxOffset, range.count);
    }
  }
  if (context_->rank == context_->size - 1) {
    reduce_(accumulator, own, range.count);
  }
  if (accumulator != own) {
    std::memcpy(own, accumulator, range.count * elementSize_);
  }
}

void TransposeExchange::broadcast(size_t segment) {
  const auto range = layout_.segment(context_->rank, segment);
  const size_t shardOffset = layout_.shard(context_->rank).offset;
  const size_t first = context_->rank;
  for (size_t i = 0; i < peers_.size(); i++) {
    auto& peer = peers_[(first + i) % peers_.size()];
    peer.broadcastSend[segment % window_].send(
        range.offset * elementSize_,
        range.count * elementSize_,
        (range.offset - shardOffset) * elementSize_);
  }
  copyToOutputs(range);
}

void TransposeExchange::receiveBroadcast(size_t segment) {
  for (auto& peer : peers_) {
    const auto range = layout_.segment(peer.rank, segment);
    if (range.count > 0) {
      peer.broadcastRecv->waitRecv();
      copyToOutputs(range);
    }
  }
}

void TransposeExchange::reduceInputs(ShardLayout::Range range) {
  for (size_t i = 1; i < pointers_.size() && range.count > 0; i++) {
    reduce_(at(0, range.offset), at(i, range.offset), range.count);
  }
}

void TransposeExchange::copyToOutputs(ShardLayout::Range range) {
  for (size_t i = 1; i < pointers_.size() && range.count > 0; i++) {
    std::memcpy(
        at(i, range.offset), at(0, range.offset), range.count * elementSize_);
  }
}

uint8_t* TransposeExchange::at(size_t input, size_t element) const {
  return static_cast<uint8_t*>(pointers_[input]) + element * elementSize_;
}

void TransposeExchange::SendSlot::send(size_t offset,
                                       size_t bytes,
                                       size_t remoteOffset) {
  wait();
  if (bytes > 0) {
    buffer->send(offset, bytes, remoteOffset);
    pending = true;
  }
}

void TransposeExchange::SendSlot::wait() {
  if (pending) {
    buffer->waitSend();
    pending = false;
  }
}

}  // namespace gloo
