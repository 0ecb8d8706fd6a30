// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/world.h"

#include <algorithm>
#include <sstream>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/sim/plain_reduction.h"

namespace ubt::sim {
namespace {

// The most that a full socket delays a host's look at its timers.
constexpr Duration kFullSocket = std::chrono::milliseconds(5);
constexpr Duration kSettle = std::chrono::seconds(60);
constexpr TimePoint kEndOfTime{std::chrono::minutes(30)};
constexpr size_t kViolationsMax = 20;
// An arena of this size always has room for the shards of a few ops.
constexpr size_t kRoomyArena = 4 << 20;

// Half of the callers always use the same tag, the others a new one each time.
bool usesNewTags(int thread) {
  return thread % 2 == 1;
}

}  // namespace

World::World(const SimOptions& options, RunDigest* digest)
    : World(options, plainReduction(), digest) {}

World::World(const SimOptions& options,
             const Reduction& reduction,
             RunDigest* digest)
    : options_(options),
      digest_(digest),
      inputs_(options_),
      causes_(options_),
      checker_(options_,
               inputs_,
               [this](const std::string& what) { violation(what); }),
      hosts_(
          options_,
          options.noData ? noReduction() : reduction,
          digest,
          [this](const std::string& what) { violation(what); },
          [this](int rank) { progress(rank); }),
      events_(hosts_.events()),
      ranks_(options.ranks, Rank(options.contexts)),
      nothing_(options.noData ? options.elementsMax * sizeof(double) : 0) {
  UBT_REQUIRE(!options.noData ||
              (!options.checkResults && !options.measureError));
}

World::~World() = default;

void World::violation(const std::string& what) {
  if (result_.violations.size() < kViolationsMax) {
    result_.violations.push_back(what);
  }
}

SimResult World::run() {
  for (int rank = 0; rank < options_.ranks; rank++) {
    if (rank == options_.neverEnters) {
      continue;
    }
    for (int context = 0; context < options_.contexts; context++) {
      for (int thread = 0; thread < options_.threads; thread++) {
        callers_.push_back(std::make_unique<Caller>());
        Caller* const caller = callers_.back().get();
        ranks_[rank].callers.push_back(caller);
        caller->rank = rank;
        caller->context = context;
        caller->thread = thread;
        caller->op = -1;
        next(caller);
      }
    }
  }
  startFaults();
  while (!allOver() && events_.now() < kEndOfTime && events_.step()) {
  }
  if (!allOver()) {
    violation("a caller hangs, without a result or an error");
  }
  const TimePoint settled = events_.now() + kSettle;
  while (events_.now() < settled && events_.step()) {
  }
  hosts_.stopSending();
  while (events_.step()) {
  }
  const Network& network = hosts_.network();
  for (const auto& [key, outcomes] : outcomes_) {
    if (options_.checkResults) {
      checker_.check(key, outcomes);
    }
  }
  for (int rank = 0; rank < options_.ranks; rank++) {
    hosts_.addCounters(rank, &result_.counters);
    if (digest_ != nullptr) {
      digest_->counted(rank, hosts_.endpoint(rank).shared().counters);
    }
    result_.sentBytes.push_back(network.sentBytes(rank));
  }
  checker_.checkSlowest();
  checker_.checkTraffic(result_.counters, hosts_.traffic(), network);
  if (result_.counters.get(Counter::kMismatched) > 0 &&
      options_.disagrees < 0 && options_.otherwise < 0) {
    violation("honest data counts as mismatched");
  }
  if (options_.nothingMayBeMissing() && result_.errors == 0 &&
      network.lost(PacketType::kData) + network.lost(PacketType::kControl) ==
          0 &&
      result_.pairsMissing > 0) {
    violation("contributions are missing, though nothing was lost or late");
  }
  checkMemory();
  result_.faults = faults_;
  result_.faults.add(hosts_.faults());
  result_.idle = network.idle();
  if (options_.arenaBytes < kRoomyArena &&
      result_.counters.get(Counter::kArenaFull) > 0) {
    result_.faults.happened(Fault::kSmallArena);
  }
  result_.ops = returned_.size();
  return result_;
}

bool World::allOver() const {
  return std::all_of(callers_.begin(), callers_.end(), [](auto& caller) {
    return caller->over;
  });
}

// Callers --------------------------------------------------------------------

void World::next(Caller* caller) {
  const Skip& skip = options_.faults.skip;
  caller->op++;
  if (caller->rank == skip.rank && caller->op == skip.op &&
      usesNewTags(caller->thread)) {
    faults_.happened(Fault::kSkip);
    caller->op++;
  }
  if (caller->op >= options_.ops ||
      (ranks_[caller->rank].closing && caller->context == 0)) {
    caller->over = true;
    closeWhenIdle(caller->rank);
    return;
  }
  Duration pause =
      options_.computing(caller->rank,
                         caller->context * options_.threads + caller->thread,
                         caller->op);
  if (options_.lateOps > 0 && pause >= options_.lateBy) {
    faults_.happened(Fault::kLate);
  }
  if (options_.opposite && caller->op == 0 &&
      (caller->thread + caller->rank) % 2 == 1) {
    faults_.happened(Fault::kOpposite);
    pause += options_.lateBy;
  }
  events_.after(pause, [this, caller] { tryEnter(caller); });
}

void World::giveUp(Caller* caller, const std::string& why) {
  caller->over = true;
  caller->inside = false;
  result_.errors++;
  result_.errorTexts.push_back(why);
  if (digest_ != nullptr) {
    digest_->failed({{caller->context, caller->thread}, caller->op},
                    caller->rank,
                    hosts_.nowAt(caller->rank));
  }
  if (!causes_.explain(caller->rank, why)) {
    violation("rank " + std::to_string(caller->rank) + " context " +
              std::to_string(caller->context) + " thread " +
              std::to_string(caller->thread) + " op " +
              std::to_string(caller->op) + " failed without a cause: " + why);
  }
  if (options_.errorEnds && !ranks_[caller->rank].closing) {
    hosts_.session(caller->rank, caller->context)
        ->sendLeave(hosts_.nowAt(caller->rank));
    const int rank = caller->rank;
    events_.after(Duration{0}, [this, rank] { hosts_.pump(rank); });
  }
  closeWhenIdle(caller->rank);
}

void World::tryEnter(Caller* caller) {
  const int rank = caller->rank;
  if (hosts_.crashed(rank) || caller->over) {
    return;
  }
  if (ranks_[rank].closing && caller->context == 0) {
    caller->over = true;
    closeWhenIdle(rank);
    return;
  }
  const TimePoint begins = hosts_.mayEnterAt(rank);
  if (events_.now() < begins) {
    events_.at(begins, [this, caller] { tryEnter(caller); });
    return;
  }
  Session* const session = hosts_.session(rank, caller->context);
  const TimePoint now = hosts_.nowAt(rank);
  if (!session->failure().empty()) {
    session->announceFailure(now);
    giveUp(caller, session->failure());
    return;
  }
  const OpKey key{{caller->context, caller->thread}, caller->op};
  OpShape shape = inputs_.shapeOf(key);
  shape.elements *= rank == options_.disagrees ? 2 : 1;
  shape.fingerprint = options_.protocolOf(rank).fingerprint() |
                      (shape.fingerprint & OpShape::kHierarchical);
  if (!options_.noData) {
    caller->bucket.assign(shape.bytes(), std::byte{0});
    inputs_.fill(key, rank, caller->bucket.data());
  }
  caller->enteredAt = now;
  caller->stillBefore = hosts_.stoodStill(rank);
  // Half of the callers use tags of the options form. The others use the same
  // tags in the class form.
  shape.space =
      caller->thread / 2 % 2 == 0 ? TagSpace::kOptions : TagSpace::kClass;
  const int base = caller->thread / 4;
  const int tag =
      usesNewTags(caller->thread) ? (base + 1) * 100000 + caller->op : base;
  caller->inside = true;
  caller->id =
      session->enter(now,
                     tag,
                     shape,
                     options_.noData ? nothing_.data() : caller->bucket.data());
  hosts_.pump(rank);
}

void World::progress(int rank) {
  for (Caller* caller : ranks_[rank].callers) {
    poll(caller);
  }
}

void World::poll(Caller* caller) {
  const int rank = caller->rank;
  Session* const session = hosts_.session(rank, caller->context);
  if (!caller->inside || !session->finished(caller->id)) {
    return;
  }
  const TimePoint now = hosts_.nowAt(rank);
  const Duration still = hosts_.stoodStill(rank) - caller->stillBefore;
  const OpKey key{{caller->context, caller->thread}, caller->op};
  caller->inside = false;
  const std::string why = session->failure(caller->id);
  if (now - caller->enteredAt >
      options_.protocol.timeout + kFullSocket + still) {
    violation("a call outlasted its timeout: " + why);
  }
  if (!why.empty()) {
    session->leave(now, caller->id);
    noteLeft(*caller);
    giveUp(caller, why);
    return;
  }
  auto& outcomes = outcomes_[key];
  outcomes.resize(options_.ranks);
  Outcome& outcome = outcomes[rank];
  // The rank that disagrees takes no part in the other ranks' op.
  outcome.there = rank != options_.disagrees;
  outcome.report = session->leave(now, caller->id);
  outcome.returnedAt = events_.now();
  outcome.took = now - caller->enteredAt;
  noteLeft(*caller);
  if (hosts_.tellsArrivals(rank)) {
    checker_.checkArrivals(
        key, rank, outcome.report, session->context(), hosts_.arrivals(rank));
  }
  result_.addBits(mix(key.second * 64 + rank), caller->bucket);
  if (digest_ != nullptr) {
    digest_->returned(key, rank, outcome.report, caller->bucket);
  }
  outcome.result.swap(caller->bucket);
  caller->bucket.clear();
  const OpReport& report = outcome.report;
  result_.add(report);
  if (report.trace != nullptr) {
    result_.traces.push_back({caller->context,
                              rank,
                              report.op,
                              inputs_.shapeOf(key).bytes(),
                              report.trace});
  }
  returned_.insert(key);
  // A call may have waited for other ranks before it began its op.
  const Left& left = ranks_[rank].left[caller->context];
  const Options protocol = options_.protocolOf(rank);
  const bool leads =
      left.ops > protocol.leadOps || left.bytes > protocol.leadBytes;
  const bool waitsForRoom = options_.arenaBytes < kRoomyArena;
  checker_.checkTime(key,
                     rank,
                     report,
                     outcome.took,
                     leads || waitsForRoom ? Duration::max() : still,
                     still);
  if (std::all_of(
          outcomes.begin(), outcomes.end(), [](auto& o) { return o.there; })) {
    if (options_.checkResults) {
      checker_.check(key, outcomes);
    }
    result_.addTogether(options_, inputs_, key, outcomes);
    outcomes_.erase(key);
  }
  next(caller);
}

void World::noteLeft(const Caller& caller) {
  Left& left = ranks_[caller.rank].left[caller.context];
  left.ops++;
  left.bytes +=
      inputs_.shapeOf({{caller.context, caller.thread}, caller.op}).bytes();
}

// Checks ---------------------------------------------------------------------

// Checks that at the end no rank keeps memory for any other.
void World::checkMemory() {
  // Does not hold if some rank left ops out.
  const bool calm =
      result_.errors == 0 && options_.crashes < 0 && options_.neverEnters < 0 &&
      options_.loss < 0.5 && options_.faults.skip.rank < 0 &&
      options_.faults.closure.rank < 0 && options_.faults.meshBreak.rank < 0;
  for (int rank = 0; calm && rank < options_.ranks; rank++) {
    size_t ops = 0;
    for (int context = 0; context < options_.contexts; context++) {
      const Session* const session = hosts_.session(rank, context);
      ops += session == nullptr ? 0 : session->opsHeld();
    }
    const size_t bytes = hosts_.endpoint(rank).shared().arena.usedBytes();
    if (ops > 0 || bytes > 0) {
      violation("rank " + std::to_string(rank) + " still holds " +
                std::to_string(ops) + " ops and " + std::to_string(bytes) +
                " bytes of its arena at the end");
    }
  }
}

}  // namespace ubt::sim
