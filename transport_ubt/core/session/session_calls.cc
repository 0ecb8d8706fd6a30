// SPDX-License-Identifier: Apache-2.0
//
// A session's calls: how they wait, begin and end.

#include <algorithm>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/base/stood_still.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

// The element count travels in 32 bits.
constexpr uint64_t kElementsMax = UINT32_MAX;
// The longest that a call waits for results that are owed.
constexpr Duration kHeldMax = std::chrono::seconds(1);
// By then announcements of other shapes have arrived, or are lost.
constexpr Duration kShapesFirst = std::chrono::milliseconds(200);

}  // namespace

// The rank that holds up the lead: of the ranks that have not finished the
// first op, the one that has been silent longest. The others may wait for it,
// too.
int Session::lagging() const {
  for (const auto& [id, op] : ops_) {
    int silent = -1;
    for (int rank = 0; op->returned() && rank < setup_.size; rank++) {
      if (!op->isDone(rank) &&
          (silent < 0 || lastHeard(rank) < lastHeard(silent))) {
        silent = rank;
      }
    }
    if (silent >= 0) {
      return silent;
    }
  }
  return -1;
}

std::vector<int> Session::neededBy() const {
  std::vector<int> ranks;
  for (int rank = 0; lingering() && rank < setup_.size; rank++) {
    if (ops_.any([rank](const Op& op) {
          return op.returned() && !op.isDone(rank);
        })) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

void Session::fail(const std::string& why, Duration tellAfter) {
  if (!departure_.fail(why)) {
    return;
  }
  for (auto& [id, op] : ops_) {
    op->giveUp(failure());
  }
  if (tellAfter > Duration{0}) {
    departure_.leaveAt(lastNow_ + tellAfter);
  } else {
    sayLeaveToAll();
  }
}

void Session::failBecauseOf(int rank, const std::string& why) {
  if (!departure_.hasFailed()) {
    departure_.blame(rank);
    fail(why);
  }
}

void Session::tellRefusal() {
  UBT_REQUIRE(departure_.hasFailed());
  if (!departure_.hasLeft() && departure_.dueAt() == kNever) {
    sayLeaveToAll();
  }
}

void Session::giveUp(const Call& call) {
  const int rank = lagging();
  if (rank < 0 || stoodStill(lastNow_ - call.until)) {
    failBecauseOf(
        setup_.rank,
        "rank " + std::to_string(setup_.rank) +
            " noticed too late that an allreduce had waited for its whole "
            "timeout: was its process or host stopped?");
    return;
  }
  failBecauseOf(
      rank,
      "rank " + std::to_string(rank) +
          " has not finished an allreduce that ended here, and did not within "
          "the timeout (" +
          (call.lacksRoom
               ? "GLOO_UBT_ARENA_BYTES leaves no room to keep more for it"
               : "no more than " + admission_.lead().limit() +
                     " may be ahead of it") +
          "); is it stuck or stopped? If it is only slow, raise the context's "
          "timeout" +
          silence(rank));
}

void Session::lacksKept(int peer) {
  failBecauseOf(setup_.rank,
                "rank " + std::to_string(setup_.rank) +
                    " had no room to keep results of an allreduce that rank " +
                    std::to_string(peer) +
                    " still lacks; raise GLOO_UBT_ARENA_BYTES");
}

// A wrong count would make ranks wait for each other for ever.
OpId Session::refuseTag(uint32_t tag, TagSpace space, const Call& call) {
  failBecauseOf(
      setup_.rank,
      "rank " + std::to_string(setup_.rank) +
          " no longer knows how often tag " + std::to_string(tag) +
          " was used: this context has used too many scattered tags (at most " +
          std::to_string(setup_.options.tagEntriesMax) +
          " groups of neighbouring tags are counted). Use tags again, count "
          "them up by one, or make a new context in time");
  const OpId id{tag, UINT32_MAX, space};
  admission_.add(id, call);
  return id;
}

bool Session::takes(const OpShape& shape) const {
  return shape.elements <= kElementsMax &&
         ShardLayout(shape,
                     ranksOf(shape.hierarchical()).members(),
                     setup_.slotBytesMax)
                 .slots(0) <= PacketHeader::kSlotsMax;
}

OpId Session::begins(TimePoint now,
                     uint32_t tag,
                     const OpShape& shape,
                     std::byte* bucket,
                     Duration timeout) {
  lastNow_ = now;
  timeout = timeoutOf(timeout);
  Call call{
      shape, bucket, now + std::min(timeout / 2, kHeldMax), now + timeout};
  if (!ops_.knowsTag(tag, shape.space)) {
    return refuseTag(tag, shape.space, call);
  }
  const OpId id = ops_.useTag(tag, shape.space);
  if (!tryBegin(id, &call)) {
    admission_.add(id, call);
  }
  return id;
}

bool Session::mayBegin(const OpId& id, const Call& call) const {
  return admission_.mayBegin(lastNow_, call, ops_.find(id) != nullptr, [this] {
    return owesResults();
  });
}

bool Session::owesResults() const {
  return setup_.options.resultsFirst &&
         ops_.any([this](const Op& op) { return op.owesResults(lastNow_); });
}

TimePoint Session::mayBeginAt() const {
  TimePoint at = kNever;
  if (departure_.hasFailed()) {
    return at;
  }
  for (const auto& [id, call] : admission_) {
    if (mayBegin(id, call)) {
      at = std::min(at, admission_.retryAt(lastNow_, call));
    }
    if (lastNow_ < call.heldUntil) {
      at = std::min(at, call.heldUntil);
    }
  }
  for (const auto& [id, op] : ops_) {
    at = op->owesResults(lastNow_) ? std::min(at, op->owesUntil()) : at;
  }
  return at;
}

ArenaBuffer Session::reserveKept(const OpShape& shape) {
  const OpRanks ranks = ranksOf(shape.hierarchical());
  return shared_->arena.reserve(OwnedShard::keptBytes(
      ShardLayout(shape, ranks.members(), setup_.slotBytesMax), ranks));
}

// Begins the op unless it has to wait. An op that others have begun does not
// wait for room, nor does any op if no rank lags.
bool Session::tryBegin(const OpId& id, Call* call) {
  if (!mayBegin(id, *call)) {
    return false;
  }
  ArenaBuffer room = reserveKept(call->shape);
  const bool awaited = ops_.find(id) != nullptr;
  call->lacksRoom = false;
  if (!room && !awaited && admission_.lead().any() &&
      setup_.options.needsEveryResult()) {
    admission_.lackRoom(lastNow_, call);
    return false;
  }
  begin(id, *call, std::move(room));
  return true;
}

void Session::begin(const OpId& id, const Call& call, ArenaBuffer room) {
  Op* op = ops_.find(id);
  if (op == nullptr) {
    op = start(lastNow_, id, call.shape, setup_.rank, {});
  } else if (op->shape() != call.shape) {
    // The others should learn the shape that this rank brings.
    for (int peer = 0; peer < setup_.size; peer++) {
      if (peer != setup_.rank) {
        control(peer, ControlRecord::announce(id, call.shape), true);
      }
    }
    op->disagree(setup_.rank, call.shape);
  }
  op->enter(lastNow_,
            call.bucket,
            contributionForm(),
            boundsFor(lastNow_, call.shape, call.until - lastNow_),
            std::move(room));
  updateActivity();
  watchSilence();
  multicast_.seek(lastNow_);
  // Ranks begin an op at about the same time. Each serves the next rank first,
  // then the one after it. While they keep in step, no two senders meet at a
  // receiver.
  turns_.start((setup_.rank + 1) % setup_.size);
}

// Begins the waiting calls that may begin now.
void Session::admit() {
  for (auto next = admission_.begin();
       next != admission_.end() && !departure_.hasFailed();) {
    const OpId id = next->first;
    Call& call = next->second;
    ++next;
    if (lastNow_ < call.until && tryBegin(id, &call)) {
      admission_.remove(id);
    }
  }
}

bool Session::isFinished(const OpId& id) const {
  return admission_.waits(id) ? departure_.hasFailed()
                              : ops_.find(id)->finished();
}

const std::string& Session::failure(const OpId& id) const {
  UBT_REQUIRE(finished(id));
  return broken_ || admission_.waits(id) ? failure()
                                         : ops_.find(id)->failure().text();
}

OpReport Session::ends(TimePoint now, const OpId& id) {
  lastNow_ = now;
  if (admission_.remove(id)) {
    tellRefusal();
    return {};
  }
  Op* const op = ops_.find(id);
  OpReport report = op->leave(now);
  shared_->counters.add(Counter::kNotRetained, op->notRetained());
  if (op->failure().any()) {
    departure_.blame(op->failure().culprit());
    // First all ranks hear all shapes: that says more than that a rank leaves.
    fail(op->failure().text(),
         op->failure().disagreed() ? kShapesFirst : Duration{0});
    tellRefusal();
    ops_.erase(id);
  } else {
    learnFrom(op->sample(), report);
    const Options& options = setup_.options;
    report.safeguards = {learning_.missing(),
                         options.zeroLoss,
                         options.skipLoss,
                         options.haltLoss};
    admission_.lead().returned(op->shape().bytes());
    forgetIfDone(id);
  }
  updateActivity();
  return report;
}

}  // namespace ubt
