// SPDX-License-Identifier: Apache-2.0
#include "algorithms/mesh_halving_doubling.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/allreduce_options_access.h"
#include "algorithms/mesh_allreduce.h"

namespace gloo {

namespace {

using UnboundBufferPtr = std::unique_ptr<transport::UnboundBuffer>;

constexpr uint8_t kSlotPrefix = 0x48;
// Segments announced in advance. Of a large block, one is reduced while others
// are on their way. If blocks are small, these are blocks of the next meetings.
constexpr size_t kWindow = 4;

struct Range {
  size_t offset;
  size_t count;
};

// Calls act(Range) for each message that `range` travels in.
template <typename Act>
void forSegments(Range range, size_t segmentElements, Act&& act) {
  for (size_t done = 0; done < range.count; done += segmentElements) {
    act(Range{range.offset + done,
              std::min(range.count - done, segmentElements)});
  }
}

struct Meeting {
  int peer;
  Range keep;  // this rank reduces this
  Range give;  // the peer reduces this
};

// The meetings of a rank in the halving stage, in order. A surplus rank keeps
// nothing, and its peer gives nothing. Otherwise theirs is a meeting like all
// others.
std::vector<Meeting> meetingsOf(int rank, int size, size_t elements) {
  int places = 1;
  while (places <= size / 2) {
    places *= 2;
  }
  const int surplus = size - places;
  const Range all = {0, elements};
  const Range nothing = {0, 0};
  std::vector<Meeting> meetings;
  if (rank < 2 * surplus && rank % 2 == 1) {
    meetings.push_back({rank - 1, nothing, all});
    return meetings;
  }
  if (rank < 2 * surplus) {
    meetings.push_back({rank + 1, all, nothing});
  }
  const int place = rank < 2 * surplus ? rank / 2 : rank - surplus;
  Range held = all;
  for (int distance = 1; distance < places; distance *= 2) {
    const int other = place ^ distance;
    const int peer = other < surplus ? 2 * other : other + surplus;
    const size_t upperCount = held.count / 2;
    const size_t lowerCount = held.count - upperCount;
    const Range lower = {held.offset, lowerCount};
    const Range upper = {held.offset + lowerCount, upperCount};
    const bool keepsLower = place < other;
    held = keepsLower ? lower : upper;
    meetings.push_back({peer, held, keepsLower ? upper : lower});
  }
  return meetings;
}

// One operation.
class Operation {
 public:
  Operation(const ubt::Mesh& mesh, const detail::AllreduceOptionsImpl& options)
      : options_(options),
        mesh_(mesh),
        contributionSlot_(meshSlot(kSlotPrefix, options)),
        resultSlot_(contributionSlot_ + 1),
        deadline_(options.timeout),
        meetings_(meetingsOf(mesh.rank, mesh.size, options.elements)) {}

  void run() {
    connect();
    halve();
    redouble();
    for (auto* const buffer : sent_) {
      buffer->waitSend(deadline_.remaining());
    }
    copyToOutputs(options_);
  }

 private:
  // The receives of a meeting.
  struct Inbox {
    UnboundBufferPtr contributions;  // over all of scratch_
    UnboundBufferPtr results;        // over the given part of the output
  };

  // A segment of a peer's contribution.
  struct Arrival {
    size_t meeting;
    Range range;
  };

  void connect() {
    size_t longest = 0;
    for (size_t i = 0; i < meetings_.size(); i++) {
      forSegments(meetings_[i].keep, segmentElements(), [&](Range range) {
        arrivals_.push_back({i, range});
        longest = std::max(longest, range.count);
      });
    }
    slotBytes_ = longest * options_.elementSize;
    const size_t window = std::min(arrivals_.size(), kWindow);
    scratch_.reset(new uint8_t[window * slotBytes_]);
    inboxes_.reserve(meetings_.size());
    for (const auto& meeting : meetings_) {
      inboxes_.push_back(
          {mesh_.createUnboundBuffer(scratch_.get(), window * slotBytes_),
           mesh_.createUnboundBuffer(output(meeting.give),
                                     bytes(meeting.give))});
    }
    for (size_t i = 0; i < window; i++) {
      expectContribution(i);
    }
    // A result is sent after the peer has our contribution, so it overwrites
    // nothing that is still needed. It may be announced at once.
    for (size_t i = 0; i < meetings_.size(); i++) {
      if (meetings_[i].give.count > 0) {
        inboxes_[i].results->recv(
            meetings_[i].peer, resultSlot_, 0, bytes(meetings_[i].give));
      }
    }
  }

  void expectContribution(size_t index) {
    const auto& arrival = arrivals_[index];
    inboxes_[arrival.meeting].contributions->recv(
        meetings_[arrival.meeting].peer,
        contributionSlot_,
        index % kWindow * slotBytes_,
        bytes(arrival.range));
  }

  void halve() {
    auto* source = &contribution();
    size_t arrival = 0;
    for (size_t i = 0; i < meetings_.size(); i++) {
      forSegments(meetings_[i].give, segmentElements(), [&](Range range) {
        send(*source, meetings_[i].peer, contributionSlot_, range);
      });
      while (arrival < arrivals_.size() && arrivals_[arrival].meeting == i) {
        reduce(*source, arrival);
        arrival++;
      }
      // Our part is in the output from now on.
      source = options_.out[0].get();
    }
  }

  void redouble() {
    for (size_t i = meetings_.size(); i-- > 0;) {
      const auto& meeting = meetings_[i];
      if (meeting.keep.count > 0) {
        send(*options_.out[0], meeting.peer, resultSlot_, meeting.keep);
      }
      if (meeting.give.count > 0) {
        inboxes_[i].results->waitRecv(deadline_.remaining());
      }
    }
  }

  // The buffer with this rank's contribution.
  transport::UnboundBuffer& contribution() {
    if (options_.in.size() == 1) {
      return *options_.in[0];
    }
    reduceInputs(options_);
    return *options_.out[0];
  }

  void reduce(const transport::UnboundBuffer& source, size_t index) {
    const auto& arrival = arrivals_[index];
    const int peer = meetings_[arrival.meeting].peer;
    const void* left = pointer(source, arrival.range);
    const void* right = scratch_.get() + index % kWindow * slotBytes_;
    if (peer < mesh_.rank) {
      std::swap(left, right);
    }
    inboxes_[arrival.meeting].contributions->waitRecv(deadline_.remaining());
    options_.reduce(output(arrival.range), left, right, arrival.range.count);
    if (index + kWindow < arrivals_.size()) {
      expectContribution(index + kWindow);
    }
  }

  void send(transport::UnboundBuffer& buffer,
            int peer,
            uint64_t slot,
            Range range) {
    buffer.send(peer, slot, range.offset * options_.elementSize, bytes(range));
    sent_.push_back(&buffer);
  }

  uint8_t* pointer(const transport::UnboundBuffer& buffer, Range range) const {
    return static_cast<uint8_t*>(buffer.ptr) +
           range.offset * options_.elementSize;
  }

  uint8_t* output(Range range) const {
    return pointer(*options_.out[0], range);
  }

  size_t bytes(Range range) const { return range.count * options_.elementSize; }

  size_t segmentElements() const { return meshSegmentElements(options_); }

  const detail::AllreduceOptionsImpl& options_;
  const ubt::Mesh& mesh_;
  const uint64_t contributionSlot_;
  const uint64_t resultSlot_;
  const MeshDeadline deadline_;
  const std::vector<Meeting> meetings_;
  std::vector<Arrival> arrivals_;  // in the order of reduction
  size_t slotBytes_ = 0;
  std::unique_ptr<uint8_t[]> scratch_;  // a slot for each announced arrival
  std::vector<Inbox> inboxes_;          // one for each meeting
  std::vector<transport::UnboundBuffer*> sent_;  // once for each message
};

}  // namespace

void meshHalvingDoublingAllreduce(const ubt::Mesh& mesh,
                                  const detail::AllreduceOptionsImpl& options) {
  if (options.elements == 0) {
    return;
  }
  if (mesh.size == 1) {
    reduceInputs(options);
    copyToOutputs(options);
    return;
  }
  runMeshAllreduce(
      "halving-doubling", options, [&] { Operation(mesh, options).run(); });
}

}  // namespace gloo
