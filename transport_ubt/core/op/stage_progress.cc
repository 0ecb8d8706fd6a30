// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/stage_progress.h"

#include "transport_ubt/core/base/require.h"

namespace ubt {
namespace {

// The time for all, if `part` of it took `took`.
Duration scaled(Duration took, uint64_t all, uint64_t part) {
  return wholeNanoseconds(took * static_cast<double>(all) / part);
}

}  // namespace

void StageProgress::expect(int sender, uint32_t slots) {
  flows_[sender].owed = slots;
  owed_ += slots;
  senders_ += slots > 0;
}

void StageProgress::arrived(TimePoint now, int sender, bool marked) {
  Flow& flow = flows_[sender];
  if (flow.open() == 0) {
    return;
  }
  if (flow.came == 0) {
    flow.first = now;
  }
  flow.came++;
  flow.last = last_ = now;
  lastSender_ = sender;
  came_++;
  complete_ += flow.came == flow.owed;
  if (marked || flow.open() == 0) {
    noteEnd(now, &flow);
  }
}

bool StageProgress::end(TimePoint now, int sender) {
  Flow& flow = flows_[sender];
  if (flow.ended || flow.owed == 0) {
    return false;
  }
  flow.last = last_ = now;
  lastSender_ = sender;
  noteEnd(now, &flow);
  return true;
}

void StageProgress::lost(TimePoint now, int sender) {
  Flow& flow = flows_[sender];
  UBT_REQUIRE(flow.open() > 0);
  flow.lost++;
  lost_++;
  if (flow.open() == 0 && !flow.ended) {
    flow.last = now;
    noteEnd(now, &flow);
  }
}

void StageProgress::found(int sender) {
  flows_[sender].lost--;
  lost_--;
}

void StageProgress::noteEnd(TimePoint now, Flow* flow) {
  if (flow->ended) {
    return;
  }
  flow->ended = true;
  ended_++;
  if (2 * ended_ >= senders_ && halfEndedAt_ == kNever) {
    halfEndedAt_ = now;
  }
  if (ended_ == senders_) {
    allEndedAt_ = now;
  }
}

TimePoint StageProgress::projectedEnd(int sender) const {
  const Flow& flow = flows_[sender];
  return flow.came < 2
             ? kNever
             : flow.first +
                   scaled(flow.last - flow.first, flow.owed - 1, flow.came - 1);
}

Duration StageProgress::projected(TimePoint start) const {
  return came_ == 0 ? Duration{0} : scaled(last_ - start, owed_, came_);
}

}  // namespace ubt
