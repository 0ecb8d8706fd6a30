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
  const bool sum = !scatter && state_.ranks.isCoOwner(header.source);
  if (header.elementType != state_.setup.shape.type ||
      header.hierarchical != state_.setup.shape.hierarchical() ||
      (state_.ranks.grouped() && header.form != Form::kPlain) ||
      (scatter && header.elements != state_.setup.shape.elements) ||
      !(sum || state_.ranks.isMember(header.source)) ||
      (header.partial && (sum || !state_.ranks.grouped()))) {
    return Counter::kMismatched;
  }
  const Shard shard = scatter || sum ? state_.ranks.shard()
                                     : state_.ranks.shardOf(header.source);
  if (header.slot >= state_.layout.slots(shard)) {
    return Counter::kMismatched;
  }
  const bool empty = !scatter && header.contributors == 0;
  if (payloadBytes !=
          (empty ? 0 : state_.layout.slotSize(shard, header.slot)) ||
      header.contributors >
          (sum ? state_.ranks.members() : state_.ranks.size())) {
    return Counter::kMismatched;
  }
  return scatter ? scatterData(now, header, payload)
         : sum   ? sumData(now, header, payload)
                 : broadcastData(now, header, payload);
}

Counter Op::scatterData(TimePoint now,
                        const PacketHeader& header,
                        const std::byte* payload) {
  const size_t bytes =
      state_.layout.slotSize(state_.ranks.shard(), header.slot);
  const auto add = [&] {
    return state_.owned.sum().add(
        state_.ranks.shardOf(header.source), header.slot, header.form, payload);
  };
  if (!state_.owned.sum().isClosed(header.slot) &&
      state_.scatterRun.find(header.source, header.slot, bytes)) {
    state_.owned.sum().find(header.slot);
  }
  auto outcome = add();
  if (outcome == ScatterStage::Outcome::kArenaFull) {
    const size_t all = ScatterStage::roomFor(state_.layout,
                                             state_.ranks.shard(),
                                             state_.ranks.members(),
                                             state_.setup.options->order);
    if (state_.setup.host->makeRoom(soleAnnouncer(),
                                    all - std::min(all, state_.heldBytes))) {
      outcome = add();
    }
  }
  switch (outcome) {
    case ScatterStage::Outcome::kArenaFull:
      rankEntered(now, header.source);
      state_.scatterRun.turnAway(
          header.source, header.slot, state_.owned.slots());
      return Counter::kArenaFull;
    case ScatterStage::Outcome::kDuplicate:
      return Counter::kDuplicateData;
    case ScatterStage::Outcome::kMismatched:
      return Counter::kMismatched;
    case ScatterStage::Outcome::kLate:
      if (state_.scatterRun.turnAway(
              header.source, header.slot, state_.owned.slots())) {
        state_.scatterRun.countLate(header.source, header.slot, bytes);
      }
      if (state_.owned.sum().closed()) {  // not this slot alone
        notices_.tellClosed(now, header.source);
      }
      return Counter::kLateData;
    case ScatterStage::Outcome::kAccepted:
      break;
  }
  rankEntered(now, header.source);  // data announces, too
  if (trace_ != nullptr) {
    trace_->arrived(now, header.source);
  }
  state_.scatterRun.acceptTurnedAway(header.source, header.slot);
  const bool last = state_.setup.options->loops == Loops::kPaper
                        ? header.lastPercentile
                        : header.slot + 1 == state_.owned.slots();
  state_.scatterRun.arrived(now, header.source, {bytes, header.repair, last});
  noteEnd(now, header.source, Stage::kScatter);
  requests_.arrived(now, header.source, Stage::kScatter);
  if (state_.scatterRun.progress().owed(header.source) == 0) {
    noteContributions(now);  // it may have been the last missing rank
  }
  slotsClosed(now);
  return Counter::kAcceptedData;
}

Counter Op::broadcastData(TimePoint now,
                          const PacketHeader& header,
                          const std::byte* payload) {
  const Shard shard = state_.ranks.shardOf(header.source);
  const size_t bytes = state_.layout.slotSize(shard, header.slot);
  const BitSet& taken = state_.broadcast.received(shard);
  if (state_.call.returned() && taken.test(header.slot)) {
    return Counter::kDuplicateData;
  }
  if (state_.call.returned() ||
      (state_.call.entered() && state_.call.finished())) {
    if (!taken.test(header.slot) &&
        state_.broadcastRun.turnAway(
            header.source, header.slot, taken.size())) {
      state_.broadcastRun.countLate(header.source, header.slot, bytes);
    }
    return Counter::kLateData;
  }
  if (state_.bucket.here()) {
    state_.bucket.contribute(shard);
  }
  state_.broadcastRun.find(header.source, header.slot, bytes);
  switch (state_.broadcast.add(
      shard, header.slot, header.contributors, header.form, payload)) {
    case BroadcastStage::Outcome::kArenaFull:
      state_.broadcastRun.turnAway(header.source, header.slot, taken.size());
      return Counter::kArenaFull;
    case BroadcastStage::Outcome::kDuplicate:
      return Counter::kDuplicateData;
    case BroadcastStage::Outcome::kMismatched:
      return Counter::kMismatched;
    case BroadcastStage::Outcome::kAccepted:
      break;
  }
  if (header.partial) {
    state_.broadcast.markPartial(shard, header.slot);
  }
  // The owner knows that this rank has entered, or no longer needs to.
  announceSeen(header.source);
  state_.broadcastRun.arrived(
      now, header.source, {bytes, header.repair, header.lastPercentile});
  noteEnd(now, header.source, Stage::kBroadcast);
  requests_.arrived(now, header.source, Stage::kBroadcast);
  if (state_.bucket.here() && taken.all()) {
    // Now, while others' results are still on their way.
    state_.bucket.invert(shard, resultForm(shard));
  }
  if (state_.broadcast.complete()) {
    state_.resultsAt = now;
  }
  noteProgress(now);
  return Counter::kAcceptedData;
}

}  // namespace ubt
