// SPDX-License-Identifier: Apache-2.0
//
// A session's calls: how they wait, begin and end.

#include <algorithm>
#include <utility>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/base/stood_still.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

// The element count travels in 32 bits.
constexpr uint64_t kElementsMax = UINT32_MAX;
// By then announcements of other shapes have arrived, or are lost.
constexpr Duration kShapesFirst = std::chrono::milliseconds(200);

}  // namespace

// The rank that holds up the lead: of the ranks that have not finished the
// first op, the one that has been silent longest. The others may wait for it,
// too.
int Session::lagging() const {
  for (const auto& [id, op] : state_.ops) {
    int silent = -1;
    for (int rank = 0; op->returned() && rank < state_.setup.size; rank++) {
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
  for (int rank = 0; lingering() && rank < state_.setup.size; rank++) {
    if (state_.ops.any([rank](const Op& op) {
          return op.returned() && !op.isDone(rank);
        })) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

void Session::fail(TimePoint now, const std::string& why, Duration tellAfter) {
  if (!departure_.fail(why)) {
    return;
  }
  for (auto& [id, op] : state_.ops) {
    op->giveUp(failure());
  }
  if (tellAfter > Duration{0}) {
    departure_.leaveAt(now + tellAfter);
  } else {
    sayLeaveToAll(now);
  }
}

void Session::failBecauseOf(TimePoint now, int rank, const std::string& why) {
  if (!departure_.hasFailed()) {
    departure_.blame(rank);
    fail(now, why);
  }
}

void Session::tellRefusal(TimePoint now) {
  UBT_REQUIRE(departure_.hasFailed());
  if (!departure_.hasLeft() && departure_.dueAt() == kNever) {
    sayLeaveToAll(now);
  }
}

// Why a call may not begin before a lagging rank has finished an earlier one.
std::string Session::whyNoLead(const Call& call) const {
  return call.lacksRoom
             ? "GLOO_UBT_ARENA_BYTES leaves no room for more "
               "results that it needs"
             : "at most " + admission_.lead().limit() + " may be ahead of it";
}

void Session::warnOfWait(const Call& call) {
  const int rank = lagging();
  if (rank >= 0) {
    warn("an allreduce has waited for " +
         std::to_string(OpState::kLongWait / std::chrono::seconds(1)) +
         " s to begin: rank " + std::to_string(rank) +
         " has not finished an earlier one (" + whyNoLead(call) + ")");
  }
}

void Session::giveUp(TimePoint now, const Call& call) {
  const int rank = lagging();
  if (rank < 0 || stoodStill(now - call.until)) {
    failBecauseOf(
        now,
        state_.setup.rank,
        "rank " + std::to_string(state_.setup.rank) +
            " noticed too late that an allreduce had waited for its whole "
            "timeout: was its process or host stopped?");
    return;
  }
  failBecauseOf(
      now,
      rank,
      "rank " + std::to_string(rank) +
          " has not finished an allreduce that ended here, and did not within "
          "the timeout (" +
          whyNoLead(call) +
          "); is it stuck or stopped? If it is only slow, raise the context's "
          "timeout" +
          silence(rank));
}

void Session::resultsUnavailable(TimePoint now, int peer) {
  failBecauseOf(now,
                state_.setup.rank,
                "rank " + std::to_string(state_.setup.rank) +
                    " had no room to keep results of an allreduce that rank " +
                    std::to_string(peer) +
                    " still lacks; raise GLOO_UBT_ARENA_BYTES");
}

// A wrong count would make ranks wait for each other for ever.
OpId Session::refuseTag(TimePoint now,
                        uint32_t tag,
                        TagSpace space,
                        const Call& call) {
  failBecauseOf(
      now,
      state_.setup.rank,
      "rank " + std::to_string(state_.setup.rank) +
          " no longer knows how often tag " + std::to_string(tag) +
          " was used: this context has used too many scattered tags (at most " +
          std::to_string(state_.setup.options.tagEntriesMax) +
          " runs of neighbouring tags are counted). Reuse tags, count them up "
          "by one, or create a new context earlier");
  const OpId id{tag, UINT32_MAX, space};
  admission_.add(id, call);
  return id;
}

bool Session::takes(const OpShape& shape) const {
  return shape.elements <= kElementsMax &&
         state_.partsOf(shape).layout.slots(Shard(0)) <=
             PacketHeader::kSlotsMax;
}

OpId Session::begins(TimePoint now,
                     uint32_t tag,
                     const OpShape& shape,
                     std::byte* bucket,
                     Duration timeout) {
  timeout = timeoutOf(timeout);
  Call call{shape, bucket, now + timeout, now + OpState::kLongWait};
  if (!state_.ops.knowsTag(tag, shape.space)) {
    return refuseTag(now, tag, shape.space, call);
  }
  const OpId id = state_.ops.useTag(tag, shape.space);
  if (!tryBegin(now, id, &call)) {
    admission_.add(id, call);
  }
  return id;
}

TimePoint Session::mayBeginAt() const {
  TimePoint at = kNever;
  if (departure_.hasFailed()) {
    return at;
  }
  for (const auto& [id, call] : admission_) {
    const bool awaited = state_.ops.find(id) != nullptr;
    at = std::min(at, admission_.triesAt(call, awaited));
  }
  return at;
}

ArenaBuffer Session::reserveKept(const OpShape& shape) {
  return state_.shared->arena.reserve(
      OwnedShard::keptBytes(state_.partsOf(shape)));
}

// Begins the op unless it has to wait. It waits for room only if some rank lags
// and no other rank has begun the op.
bool Session::tryBegin(TimePoint now, const OpId& id, Call* call) {
  const bool awaited = state_.ops.find(id) != nullptr;
  if (!admission_.lead().mayBegin(awaited)) {
    return false;
  }
  ArenaBuffer room = reserveKept(call->shape);
  call->lacksRoom = false;
  if (!room && !awaited && admission_.lead().any() &&
      state_.setup.options.needsEveryResult()) {
    admission_.lackRoom(now, call);
    return false;
  }
  begin(now, id, *call, std::move(room));
  return true;
}

void Session::begin(TimePoint now,
                    const OpId& id,
                    const Call& call,
                    ArenaBuffer room) {
  Op* op = state_.ops.find(id);
  if (op == nullptr) {
    op = start(
        now, id, call.shape, state_.partsOf(call.shape), state_.setup.rank, {});
  } else if (op->shape() != call.shape) {
    op->disagree(now, state_.setup.rank, call.shape);
  }
  learning_.begins(now, call.shape);
  op->enter(
      now,
      call.bucket,
      contributionForm(),
      learning_.boundsFor(
          call.shape, state_.shared->lateness.worst(now), call.until - now),
      std::move(room));
  state_.updateActivity();
  watchSilence(now);
  state_.multicast.seek(now);
  out_.opEntered();
  credit_.opEntered(now);
}

// Begins the waiting calls that may begin now.
void Session::admit(TimePoint now) {
  for (auto next = admission_.begin();
       next != admission_.end() && !departure_.hasFailed();) {
    const OpId id = next->first;
    Call& call = next->second;
    ++next;
    if (now < call.until && tryBegin(now, id, &call)) {
      admission_.remove(id);
    }
  }
}

bool Session::isFinished(const OpId& id) const {
  return admission_.waits(id) ? departure_.hasFailed()
                              : state_.ops.find(id)->finished();
}

const std::string& Session::failure(const OpId& id) const {
  UBT_REQUIRE(finished(id));
  return state_.broken || admission_.waits(id)
             ? failure()
             : state_.ops.find(id)->failure().text();
}

OpReport Session::ends(TimePoint now, const OpId& id) {
  if (admission_.remove(id)) {
    tellRefusal(now);
    return {};
  }
  Op* const op = state_.ops.find(id);
  OpReport report = op->leave(now);
  state_.shared->counters.add(Counter::kNotRetained, op->notRetained());
  if (op->failure().any()) {
    departure_.blame(op->failure().culprit());
    // First all ranks hear all shapes: that says more than that a rank leaves.
    fail(now,
         op->failure().text(),
         op->failure().disagreed() ? kShapesFirst : Duration{0});
    tellRefusal(now);
    state_.ops.erase(id);
  } else {
    learning_.ends();
    learnFrom(now, op->sample(), report);
    const Options& options = state_.setup.options;
    report.safeguards = {learning_.missing(),
                         options.zeroLoss,
                         options.skipLoss,
                         options.haltLoss};
    admission_.lead().returned(op->shape().bytes());
    forgetIfDone(now, id);
  }
  state_.updateActivity();
  return report;
}

}  // namespace ubt
