// SPDX-License-Identifier: Apache-2.0
//
// How an op handles the slots that arrive.

#include <algorithm>

#include "transport_ubt/core/op/op.h"

namespace ubt {

Counter Op::data(TimePoint now,
                 const PacketHeader& header,
                 const std::byte* payload,
                 size_t payloadBytes) {
  const bool scatter = header.stage == Stage::kScatter;
  const bool sum = !scatter && ranks_.isCoOwner(header.source);
  if (header.elementType != setup_.shape.type ||
      header.hierarchical != setup_.shape.hierarchical() ||
      (ranks_.grouped() && header.form != Form::kPlain) ||
      (scatter && header.elements != setup_.shape.elements) ||
      !(sum || ranks_.isMember(header.source)) ||
      (header.partial && (sum || !ranks_.grouped()))) {
    return Counter::kMismatched;
  }
  const Shard shard =
      scatter || sum ? ranks_.shard() : ranks_.shardOf(header.source);
  if (header.slot >= layout_.slots(shard)) {
    return Counter::kMismatched;
  }
  const bool empty = !scatter && header.contributors == 0;
  if (payloadBytes != (empty ? 0 : layout_.slotSize(shard, header.slot)) ||
      header.contributors > (sum ? ranks_.members() : ranks_.size())) {
    return Counter::kMismatched;
  }
  return scatter ? scatterData(now, header, payload)
         : sum   ? sumData(now, header, payload)
                 : broadcastData(now, header, payload);
}

Counter Op::scatterData(TimePoint now,
                        const PacketHeader& header,
                        const std::byte* payload) {
  const size_t bytes = layout_.slotSize(ranks_.shard(), header.slot);
  const auto add = [&] {
    return owned_.sum().add(
        ranks_.shardOf(header.source), header.slot, header.form, payload);
  };
  if (!owned_.sum().isClosed(header.slot) &&
      scatterRun_.find(header.source, header.slot, bytes)) {
    owned_.sum().find(header.slot);
  }
  auto outcome = add();
  if (outcome == ScatterStage::Outcome::kArenaFull) {
    const size_t all = ScatterStage::roomFor(
        layout_, ranks_.shard(), ranks_.members(), setup_.options->order);
    if (setup_.host->makeRoom(soleAnnouncer(),
                              all - std::min(all, heldBytes_))) {
      outcome = add();
    }
  }
  switch (outcome) {
    case ScatterStage::Outcome::kArenaFull:
      rankEntered(now, header.source);
      scatterRun_.turnAway(header.source, header.slot, owned_.slots());
      return Counter::kArenaFull;
    case ScatterStage::Outcome::kDuplicate:
      return Counter::kDuplicateData;
    case ScatterStage::Outcome::kMismatched:
      return Counter::kMismatched;
    case ScatterStage::Outcome::kLate:
      if (scatterRun_.turnAway(header.source, header.slot, owned_.slots())) {
        scatterRun_.countLate(header.source, header.slot, bytes);
      }
      if (const TimePoint next = notices_.closed.at(header.source);
          now >= next || next == kNever) {
        setup_.host->control(now, header.source, closedRecord(), true);
        scheduleNotice(&notices_.closed, now, header.source);
      }
      return Counter::kLateData;
    case ScatterStage::Outcome::kAccepted:
      break;
  }
  rankEntered(now, header.source);  // data announces, too
  if (trace_ != nullptr) {
    trace_->arrived(now, header.source);
  }
  scatterRun_.acceptTurnedAway(header.source, header.slot);
  const bool last = setup_.options->loops == Loops::kPaper
                        ? header.lastPercentile
                        : header.slot + 1 == owned_.slots();
  scatterRun_.arrived(now, header.source, {bytes, header.repair, last});
  noteEnd(now, header.source, Stage::kScatter);
  if (asksForContributions()) {
    restart(&scatterRun_.repairs, now, header.source);
  }
  if (scatterRun_.progress().owed(header.source) == 0) {
    noteContributions(now);  // it may have been the last missing rank
  }
  slotsClosed(now);
  return Counter::kAcceptedData;
}

Counter Op::broadcastData(TimePoint now,
                          const PacketHeader& header,
                          const std::byte* payload) {
  const Shard shard = ranks_.shardOf(header.source);
  const size_t bytes = layout_.slotSize(shard, header.slot);
  const BitSet& taken = broadcast_.received(shard);
  if (call_.returned() && taken.test(header.slot)) {
    return Counter::kDuplicateData;
  }
  if (call_.returned() || (call_.entered() && call_.finished())) {
    if (!taken.test(header.slot) &&
        broadcastRun_.turnAway(header.source, header.slot, taken.size())) {
      broadcastRun_.countLate(header.source, header.slot, bytes);
    }
    return Counter::kLateData;
  }
  if (bucket_.here()) {
    bucket_.contribute(shard);
  }
  broadcastRun_.find(header.source, header.slot, bytes);
  switch (broadcast_.add(
      shard, header.slot, header.contributors, header.form, payload)) {
    case BroadcastStage::Outcome::kArenaFull:
      broadcastRun_.turnAway(header.source, header.slot, taken.size());
      return Counter::kArenaFull;
    case BroadcastStage::Outcome::kDuplicate:
      return Counter::kDuplicateData;
    case BroadcastStage::Outcome::kMismatched:
      return Counter::kMismatched;
    case BroadcastStage::Outcome::kAccepted:
      break;
  }
  if (header.partial) {
    broadcast_.markPartial(shard, header.slot);
  }
  // The owner knows that this rank has entered, or no longer needs to.
  announceSeen(header.source);
  broadcastRun_.arrived(
      now, header.source, {bytes, header.repair, header.lastPercentile});
  noteEnd(now, header.source, Stage::kBroadcast);
  restart(&broadcastRun_.repairs, now, header.source);
  if (bucket_.here() && taken.all()) {
    // Now, while others' results are still on their way.
    bucket_.invert(shard, resultForm(shard));
  }
  if (broadcast_.complete()) {
    resultsAt_ = now;
  }
  noteProgress(now);
  return Counter::kAcceptedData;
}

}  // namespace ubt
