// SPDX-License-Identifier: Apache-2.0
#include "algorithms/mesh_transpose.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "algorithms/mesh_elements.h"
#include "algorithms/segment_layout.h"
#include "algorithms/segment_pipeline.h"

namespace gloo {

namespace {

using UnboundBufferPtr = std::unique_ptr<transport::UnboundBuffer>;

constexpr uint8_t kPlainPrefix = 0x54;
constexpr uint8_t kGroupedPrefix = 0x32;
constexpr size_t kWindow = 2;

// One operation. Unlike TransposeExchange, it can prepare nothing in advance:
// every receive is announced to its sender, and the transport holds a message
// back until then. Announcing a window of segments early hides that.
class Operation {
 public:
  // `mesh`, `options` and `groups` must outlive this.
  Operation(const ubt::Mesh& mesh,
            const detail::AllreduceOptionsImpl& options,
            const RankGroups& groups,
            uint8_t slotPrefix,
            MeshDeadline deadline)
      : options_(options),
        elements_(options),
        mesh_(mesh),
        groups_(groups),
        group_(groups.groupOf(mesh.rank)),
        mine_(groups.shardsOf(mesh.rank)),
        scatterSlot_(meshSlot(slotPrefix, options)),
        broadcastSlot_(scatterSlot_ + 1),
        exchangeSlot_(scatterSlot_ + 2),
        deadline_(deadline),
        layout_(
            options.elements, groups.shards(), meshSegmentElements(options)),
        window_(std::min(layout_.segments(), kWindow)) {}

  void run() {
    connect();
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
    waitSent(elements_.source(), &contributionsSent_);
    for (auto& sums : groupSums_) {
      waitSent(*sums.buffer, &sums.sent);
    }
    waitSent(*options_.out[0], &resultsSent_);
  }

 private:
  // Another member of this rank's group.
  struct Peer {
    int rank;
    RankGroups::Shards shards;
    uint8_t* inbox;
    UnboundBufferPtr contributions;  // over inbox, for our shards
    UnboundBufferPtr results;        // over the peer's shards of the output
  };

  // A rank of another group that shares shards with us.
  struct Partner {
    int rank;
    RankGroups::Shards shared;
    uint8_t* inbox;
    UnboundBufferPtr sums;  // over inbox
  };

  // This group's sums of a segment of our shards, for partners. Each segment in
  // the window has its own buffer, so that the sends of one can be waited for.
  struct GroupSums {
    std::unique_ptr<uint8_t[]> memory;
    UnboundBufferPtr buffer;
    size_t sent = 0;
  };

  void connect() {
    peers_.reserve(groups_.members(group_).size());
    for (const int rank : groups_.members(group_)) {
      if (rank != mesh_.rank) {
        connectPeer(rank);
      }
    }
    partnerOf_.assign(mesh_.size, nullptr);
    partners_.reserve(mesh_.size);
    for (int rank = 0; rank < mesh_.size; rank++) {
      const auto shared = groups_.shared(mesh_.rank, rank);
      if (groups_.groupOf(rank) != group_ && shared.first < shared.end) {
        connectPartner(rank, shared);
      }
    }
    for (size_t i = 0; i < window_ && !partners_.empty(); i++) {
      const size_t size = mine_.count() * segmentBytes();
      groupSums_.emplace_back();
      // Zeros, because of Gloo's float16: an assignment does nothing if the old
      // bits, read as an integer, are the number that is assigned.
      groupSums_[i].memory.reset(new uint8_t[size]());
      groupSums_[i].buffer =
          mesh_.createUnboundBuffer(groupSums_[i].memory.get(), size);
    }
    for (size_t segment = 0; segment < window_; segment++) {
      for (auto& peer : peers_) {
        expectContributions(peer, segment);
        expectResults(peer, segment);
      }
      for (auto& partner : partners_) {
        expectSums(partner, segment);
      }
    }
  }

  void connectPeer(int rank) {
    const auto shards = groups_.shardsOf(rank);
    const auto region = layout_.shards(shards.first, shards.end);
    const size_t inboxBytes = mine_.count() * window_ * segmentBytes();
    uint8_t* const inbox = newInbox(inboxBytes);
    peers_.push_back({rank,
                      shards,
                      inbox,
                      mesh_.createUnboundBuffer(inbox, inboxBytes),
                      mesh_.createUnboundBuffer(elements_.output(region),
                                                elements_.bytes(region))});
  }

  void connectPartner(int rank, RankGroups::Shards shared) {
    const size_t inboxBytes = shared.count() * window_ * segmentBytes();
    uint8_t* const inbox = newInbox(inboxBytes);
    partners_.push_back(
        {rank, shared, inbox, mesh_.createUnboundBuffer(inbox, inboxBytes)});
    partnerOf_[rank] = &partners_.back();
  }

  uint8_t* newInbox(size_t size) {
    inboxes_.emplace_back(new uint8_t[size]);
    return inboxes_.back().get();
  }

  void expectContributions(Peer& peer, size_t segment) {
    forSegments(layout_, mine_, segment, [&](int shard, auto range) {
      peer.contributions->recv(peer.rank,
                               scatterSlot_,
                               inboxOffset(shard - mine_.first, segment),
                               elements_.bytes(range));
    });
  }

  void expectResults(Peer& peer, size_t segment) {
    const size_t begin = layout_.shard(peer.shards.first).offset;
    forSegments(layout_, peer.shards, segment, [&](int, auto range) {
      peer.results->recv(peer.rank,
                         broadcastSlot_,
                         (range.offset - begin) * options_.elementSize,
                         elements_.bytes(range));
    });
  }

  void expectSums(Partner& partner, size_t segment) {
    const auto& shared = partner.shared;
    forSegments(layout_, shared, segment, [&](int shard, auto range) {
      partner.sums->recv(partner.rank,
                         exchangeSlot_,
                         inboxOffset(shard - shared.first, segment),
                         elements_.bytes(range));
    });
  }

  void scatter(size_t segment) {
    const size_t first = groups_.placeOf(mesh_.rank);
    for (size_t i = 0; i < peers_.size(); i++) {
      auto& peer = peers_[(first + i) % peers_.size()];
      forSegments(layout_, peer.shards, segment, [&](int, auto range) {
        elements_.reduceInputs(range);
        elements_.source().send(peer.rank,
                                scatterSlot_,
                                elements_.offset(range),
                                elements_.bytes(range));
        contributionsSent_++;
      });
    }
  }

  // With one group, its sums are the result. Our own contribution must not be
  // overwritten before it is used, so until then the first peer's inbox is the
  // accumulator.
  void reduce(size_t segment) {
    forSegments(layout_, mine_, segment, [&](int shard, auto range) {
      uint8_t* const result = elements_.output(range);
      uint8_t* const scratch = groups_.placeOf(mesh_.rank) <= 1
                                   ? result
                                   : peers_[0].inbox + inboxOffset(0, segment);
      foldContributions(shard, segment, range, result, scratch);
      broadcast(range);
    });
    expectMoreContributions(segment);
  }

  void reduceGroup(size_t segment) {
    auto& sums = groupSums_[segment % window_];
    waitSent(*sums.buffer, &sums.sent);
    forSegments(layout_, mine_, segment, [&](int shard, auto range) {
      uint8_t* const sum = groupSum(shard, segment);
      foldContributions(shard, segment, range, sum, sum);
      for (auto& partner : partners_) {
        if (partner.shared.first <= shard && shard < partner.shared.end) {
          sums.buffer->send(partner.rank,
                            exchangeSlot_,
                            sum - sums.memory.get(),
                            elements_.bytes(range));
          sums.sent++;
        }
      }
    });
    expectMoreContributions(segment);
  }

  void combineGroups(size_t segment) {
    forSegments(layout_, mine_, segment, [&](int shard, auto range) {
      uint8_t* const result = elements_.output(range);
      elements_.fold(groups_.count(), range, result, result, [&](int group) {
        if (group == group_) {
          return static_cast<const void*>(groupSum(shard, segment));
        }
        auto& partner = *partnerOf_[groups_.owner(group, shard)];
        partner.sums->waitRecv(deadline_.remaining());
        return static_cast<const void*>(
            partner.inbox + inboxOffset(shard - partner.shared.first, segment));
      });
      broadcast(range);
    });
    for (auto& partner : partners_) {
      if (segment + window_ < layout_.segments()) {
        expectSums(partner, segment + window_);
      }
    }
  }

  void receiveBroadcast(size_t segment) {
    for (auto& peer : peers_) {
      forSegments(layout_, peer.shards, segment, [&](int, auto range) {
        peer.results->waitRecv(deadline_.remaining());
        elements_.copyToOutputs(range);
      });
      if (segment + window_ < layout_.segments()) {
        expectResults(peer, segment + window_);
      }
    }
  }

  void broadcast(SegmentLayout::Range range) {
    for (auto& peer : peers_) {
      options_.out[0]->send(peer.rank,
                            broadcastSlot_,
                            elements_.offset(range),
                            elements_.bytes(range));
      resultsSent_++;
    }
    elements_.copyToOutputs(range);
  }

  // Reduces the contributions of this group's members, in their order.
  void foldContributions(int shard,
                         size_t segment,
                         SegmentLayout::Range range,
                         uint8_t* result,
                         uint8_t* scratch) {
    const void* const own = elements_.reduceInputs(range);
    const int place = groups_.placeOf(mesh_.rank);
    const int members = static_cast<int>(peers_.size()) + 1;
    elements_.fold(members, range, result, scratch, [&](int member) {
      if (member == place) {
        return own;
      }
      auto& peer = peers_[member < place ? member : member - 1];
      peer.contributions->waitRecv(deadline_.remaining());
      return static_cast<const void*>(
          peer.inbox + inboxOffset(shard - mine_.first, segment));
    });
  }

  void expectMoreContributions(size_t segment) {
    for (auto& peer : peers_) {
      if (segment + window_ < layout_.segments()) {
        expectContributions(peer, segment + window_);
      }
    }
  }

  void waitSent(transport::UnboundBuffer& buffer, size_t* sent) {
    for (; *sent > 0; (*sent)--) {
      buffer.waitSend(deadline_.remaining());
    }
  }

  size_t segmentBytes() const {
    return layout_.segmentElements() * options_.elementSize;
  }

  // In an inbox that has a window of segments for each of some shards.
  size_t inboxOffset(size_t shard, size_t segment) const {
    return (shard * window_ + segment % window_) * segmentBytes();
  }

  uint8_t* groupSum(int shard, size_t segment) const {
    return groupSums_[segment % window_].memory.get() +
           (shard - mine_.first) * segmentBytes();
  }

  const detail::AllreduceOptionsImpl& options_;
  const MeshElements elements_;
  const ubt::Mesh& mesh_;
  const RankGroups& groups_;
  const int group_;                // this rank's
  const RankGroups::Shards mine_;  // owned by this rank
  const uint64_t scatterSlot_;
  const uint64_t broadcastSlot_;
  const uint64_t exchangeSlot_;
  const MeshDeadline deadline_;
  const SegmentLayout layout_;
  const size_t window_;  // segments of one shard in flight
  std::vector<std::unique_ptr<uint8_t[]>> inboxes_;
  std::vector<Peer> peers_;  // in rank order
  std::vector<Partner> partners_;
  std::vector<Partner*> partnerOf_;   // by rank
  std::vector<GroupSums> groupSums_;  // by segment in the window
  size_t contributionsSent_ = 0;
  size_t resultsSent_ = 0;
};

}  // namespace

void meshTransposeAllreduce(const ubt::Mesh& mesh,
                            const detail::AllreduceOptionsImpl& options) {
  if (options.elements == 0) {
    return;
  }
  const auto groups = RankGroups::single(mesh.size);
  Operation operation(
      mesh, options, groups, kPlainPrefix, MeshDeadline(options.timeout));
  runMeshAllreduce("transpose", options, [&] { operation.run(); });
}

void meshHierarchicalTransposeAllreduce(
    const ubt::Mesh& mesh,
    const detail::AllreduceOptionsImpl& options,
    const RankGroups& groups,
    const MeshDeadline& deadline) {
  if (options.elements == 0) {
    return;
  }
  Operation operation(mesh, options, groups, kGroupedPrefix, deadline);
  runMeshAllreduce("hierarchical transpose", options, [&] { operation.run(); });
}

}  // namespace gloo
