// SPDX-License-Identifier: Apache-2.0
#include "algorithms/transpose_engine.h"

#include <gloo/common/logging.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "algorithms/segment_pipeline.h"

namespace gloo {

namespace {

// Small enough that a segment is still in the cache when it is reduced and sent
// on, large enough that the cost of a message does not matter.
constexpr size_t kSegmentBytesMax = 256 << 10;
constexpr size_t kSegmentBytesMin = 16 << 10;
// For all inboxes together. With many peers even the smallest segments may need
// more.
constexpr size_t kInboxBytes = 16 << 20;
constexpr size_t kWindow = 2;
// For sums on their way between groups: see the header.
constexpr size_t kPlaces = 3;

// In synchronous mode a rank does not read from a peer while it writes to
// others. A step has two messages to a peer for each shard. Sockets must hold
// those that the reader does not wait for. Gloo makes the sender's buffer as
// large as two messages; the receiver's buffer takes at least 64 KiB.
constexpr size_t kReceiverBytes = 64 << 10;
constexpr size_t kShardBytesMin = 8 << 10;

size_t segmentBytesMax(int shardsOfAPair) {
  return shardsOfAPair == 1
             ? kSegmentBytesMax
             : std::max(kShardBytesMin,
                        kReceiverBytes / 2 / (shardsOfAPair - 1));
}

size_t segmentElements(const RankGroups& groups, size_t elementSize) {
  const size_t peers = groups.shards() + groups.count() - 1;
  const size_t share = kInboxBytes / (kWindow * peers);
  const size_t bytes = std::min(std::max(share, kSegmentBytesMin),
                                segmentBytesMax(groups.shardsOfAPairMax()));
  return std::max<size_t>(bytes / elementSize, 1);
}

}  // namespace

TransposeEngine::Slots TransposeEngine::Slots::take(Context& context) {
  const int first = context.nextSlot(3);
  return {first, first + 1, first + 2};
}

TransposeEngine::TransposeEngine(const std::shared_ptr<Context>& context,
                                 TransposeElements elements,
                                 RankGroups groups,
                                 const Slots& slots)
    : context_(context),
      elements_(std::move(elements)),
      groups_(std::move(groups)),
      group_(groups_.groupOf(context->rank)),
      mine_(groups_.shardsOf(context->rank)),
      layout_(elements_.count,
              groups_.shards(),
              segmentElements(groups_, elements_.elementSize)),
      window_(std::min(layout_.segments(), kWindow)) {
  GLOO_ENFORCE(!elements_.pointers.empty(), "no buffer to reduce");
  if (elements_.count == 0) {
    return;
  }
  if (groups_.count() > 1) {
    sums_ = newInbox(mine_.count() * kPlaces);
  }
  peers_.reserve(context->size);
  partners_.reserve(context->size);
  partnerOf_.assign(context->size, nullptr);
  for (int rank = 0; rank < context->size; rank++) {
    const auto shared = groups_.shared(context->rank, rank);
    if (rank == context->rank) {
      continue;
    }
    if (groups_.groupOf(rank) == group_) {
      connectPeer(rank, slots);
    } else if (shared.first < shared.end) {
      connectPartner(rank, slots);
    }
  }
}

void TransposeEngine::connectPeer(int rank, const Slots& slots) {
  auto& pair = context_->getPair(rank);
  peers_.emplace_back();
  auto& peer = peers_.back();
  peer.rank = rank;
  peer.shards = groups_.shardsOf(rank);
  const size_t inbox = mine_.count() * window_;
  peer.inbox = newInbox(inbox);
  peer.scatterRecv =
      pair->createRecvBuffer(slots.scatter, peer.inbox, inbox * segmentBytes());
  const auto region = layout_.shards(peer.shards.first, peer.shards.end);
  peer.broadcastRecv = pair->createRecvBuffer(
      slots.broadcast, at(0, region.offset), bytes(region));
  const size_t all = elements_.count * elements_.elementSize;
  peer.scatterSend = newSendSlots(
      rank, slots.scatter, peer.shards.count() * window_, at(0, 0), all);
  peer.broadcastSend = newSendSlots(
      rank, slots.broadcast, mine_.count() * window_, at(0, 0), all);
}

void TransposeEngine::connectPartner(int rank, const Slots& slots) {
  partners_.emplace_back();
  auto& partner = partners_.back();
  partnerOf_[rank] = &partner;
  partner.rank = rank;
  partner.shared = groups_.shared(context_->rank, rank);
  const size_t inbox = partner.shared.count() * kPlaces;
  partner.inbox = newInbox(inbox);
  partner.recv = context_->getPair(rank)->createRecvBuffer(
      slots.exchange, partner.inbox, inbox * segmentBytes());
  partner.send = newSendSlots(rank,
                              slots.exchange,
                              inbox,
                              sums_,
                              mine_.count() * kPlaces * segmentBytes());
}

uint8_t* TransposeEngine::newInbox(size_t segments) {
  inboxes_.emplace_back(new uint8_t[segments * segmentBytes()]);
  return inboxes_.back().get();
}

std::vector<TransposeEngine::SendSlot> TransposeEngine::newSendSlots(
    int rank, int slot, size_t count, uint8_t* memory, size_t bytes) const {
  std::vector<SendSlot> sends(count);
  for (auto& send : sends) {
    send.buffer =
        context_->getPair(rank)->createSendBuffer(slot, memory, bytes);
  }
  return sends;
}

void TransposeEngine::run() {
  if (elements_.count == 0) {
    return;
  }
  runSegments(
      layout_.segments(),
      window_,
      [this](size_t segment) { scatter(segment); },
      [this](size_t segment) {
        if (groups_.count() == 1) {
          reduce(segment);
        } else {
          reduceGroup(segment);
          combineGroups(segment);
        }
      },
      [this](size_t segment) { receiveBroadcast(segment); });
  exchanged_ += layout_.segments();
  waitSent();
}

void TransposeEngine::scatter(size_t segment) {
  // Begin with the next rank, so that not all send to the same one.
  const size_t first = groups_.placeOf(context_->rank);
  for (size_t i = 0; i < peers_.size(); i++) {
    auto& peer = peers_[(first + i) % peers_.size()];
    forSegments(layout_, peer.shards, segment, [&](int shard, auto range) {
      reduceInputs(range);
      const size_t place = windowPlace(shard - peer.shards.first, segment);
      peer.scatterSend[place].send(range.offset * elements_.elementSize,
                                   bytes(range),
                                   place * segmentBytes());
    });
  }
}

// With one group, its sums are the result.
void TransposeEngine::reduce(size_t segment) {
  forSegments(layout_, mine_, segment, [&](int shard, auto range) {
    uint8_t* const own = at(0, range.offset);
    const uint8_t* const sum = foldContributions(shard, segment, range);
    if (sum != own) {
      std::memcpy(own, sum, bytes(range));
    }
    broadcast(shard, segment, range);
  });
}

void TransposeEngine::reduceGroup(size_t segment) {
  forSegments(layout_, mine_, segment, [&](int shard, auto range) {
    const uint8_t* const sum = foldContributions(shard, segment, range);
    const size_t offset =
        exchangePlace(shard - mine_.first, segment) * segmentBytes();
    // The old sum there has been received. Wait until its sends have ended
    // here, too.
    forPartners(shard, segment, [](SendSlot& slot, size_t) { slot.wait(); });
    std::memcpy(sums_ + offset, sum, bytes(range));
    forPartners(shard, segment, [&](SendSlot& slot, size_t place) {
      slot.send(offset, bytes(range), place * segmentBytes());
    });
  });
}

// Reduces in the groups' order, which is the same on all ranks.
void TransposeEngine::combineGroups(size_t segment) {
  forSegments(layout_, mine_, segment, [&](int shard, auto range) {
    uint8_t* const result = at(0, range.offset);
    for (int group = 0; group < groups_.count(); group++) {
      const uint8_t* sum = groupSum(group, shard, segment);
      if (group == 0) {
        std::memcpy(result, sum, bytes(range));
      } else {
        elements_.reduce(result, sum, range.count);
      }
    }
    broadcast(shard, segment, range);
  });
}

void TransposeEngine::receiveBroadcast(size_t segment) {
  for (auto& peer : peers_) {
    forSegments(layout_, peer.shards, segment, [&](int, auto range) {
      peer.broadcastRecv->waitRecv();
      copyToOutputs(range);
    });
  }
}

// Reduces in the order of the group's members. The accumulator is the first
// member's contribution: ours if we are the first, or else the one in its
// inbox. Returns the accumulator.
const uint8_t* TransposeEngine::foldContributions(int shard,
                                                  size_t segment,
                                                  SegmentLayout::Range range) {
  const size_t offset =
      windowPlace(shard - mine_.first, segment) * segmentBytes();
  const size_t place = groups_.placeOf(context_->rank);
  uint8_t* const own = at(0, range.offset);
  reduceInputs(range);
  uint8_t* accumulator = nullptr;
  for (size_t member = 0; member <= peers_.size(); member++) {
    uint8_t* part = own;
    if (member != place) {
      auto& peer = peers_[member < place ? member : member - 1];
      peer.scatterRecv->waitRecv();
      part = peer.inbox + offset;
    }
    if (accumulator == nullptr) {
      accumulator = part;
    } else {
      elements_.reduce(accumulator, part, range.count);
    }
  }
  return accumulator;
}

// Waits until the sum has come.
const uint8_t* TransposeEngine::groupSum(int group, int shard, size_t segment) {
  if (group == group_) {
    return sums_ + exchangePlace(shard - mine_.first, segment) * segmentBytes();
  }
  auto& partner = *partnerOf_[groups_.owner(group, shard)];
  partner.recv->waitRecv();
  return partner.inbox +
         exchangePlace(shard - partner.shared.first, segment) * segmentBytes();
}

void TransposeEngine::broadcast(int shard,
                                size_t segment,
                                SegmentLayout::Range range) {
  const size_t begin = layout_.shard(mine_.first).offset;
  const size_t first = groups_.placeOf(context_->rank);
  for (size_t i = 0; i < peers_.size(); i++) {
    auto& peer = peers_[(first + i) % peers_.size()];
    peer.broadcastSend[windowPlace(shard - mine_.first, segment)].send(
        range.offset * elements_.elementSize,
        bytes(range),
        (range.offset - begin) * elements_.elementSize);
  }
  copyToOutputs(range);
}

void TransposeEngine::reduceInputs(SegmentLayout::Range range) {
  for (size_t i = 1; i < elements_.pointers.size(); i++) {
    elements_.reduce(at(0, range.offset), at(i, range.offset), range.count);
  }
}

void TransposeEngine::copyToOutputs(SegmentLayout::Range range) {
  for (size_t i = 1; i < elements_.pointers.size(); i++) {
    std::memcpy(at(i, range.offset), at(0, range.offset), bytes(range));
  }
}

void TransposeEngine::waitSent() {
  for (auto& peer : peers_) {
    for (auto* sends : {&peer.scatterSend, &peer.broadcastSend}) {
      for (auto& send : *sends) {
        send.wait();
      }
    }
  }
  for (auto& partner : partners_) {
    for (auto& send : partner.send) {
      send.wait();
    }
  }
}

template <typename Act>
void TransposeEngine::forPartners(int shard, size_t segment, Act&& act) {
  for (auto& partner : partners_) {
    if (partner.shared.first <= shard && shard < partner.shared.end) {
      const size_t place = exchangePlace(shard - partner.shared.first, segment);
      act(partner.send[place], place);
    }
  }
}

size_t TransposeEngine::windowPlace(size_t shard, size_t segment) const {
  return shard * window_ + segment % window_;
}

size_t TransposeEngine::exchangePlace(size_t shard, size_t segment) const {
  return shard * kPlaces + (exchanged_ + segment) % kPlaces;
}

size_t TransposeEngine::segmentBytes() const {
  return layout_.segmentElements() * elements_.elementSize;
}

size_t TransposeEngine::bytes(SegmentLayout::Range range) const {
  return range.count * elements_.elementSize;
}

uint8_t* TransposeEngine::at(size_t input, size_t element) const {
  return static_cast<uint8_t*>(elements_.pointers[input]) +
         element * elements_.elementSize;
}

void TransposeEngine::SendSlot::send(size_t offset,
                                     size_t bytes,
                                     size_t remoteOffset) {
  wait();
  buffer->send(offset, bytes, remoteOffset);
  pending = true;
}

void TransposeEngine::SendSlot::wait() {
  if (pending) {
    buffer->waitSend();
    pending = false;
  }
}

}  // namespace gloo
