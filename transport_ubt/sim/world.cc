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
      reduction_(options.noData ? noReduction() : reduction),
      digest_(digest),
      inputs_(options_),
      causes_(options_),
      checker_(options_,
               inputs_,
               [this](const std::string& what) { violation(what); }),
      random_(options.seed ^ options.timingSeed << 32 ^ 0x776f726c64),
      network_(
          options_,
          &events_,
          [this](int rank, const Network::Arrived& datagram, bool congested) {
            receive(rank, datagram, congested);
          }),
      hosts_(options.ranks),
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

bool World::chance(double probability) {
  return probability > 0 &&
         std::uniform_real_distribution<>()(random_) < probability;
}

std::unique_ptr<Endpoint> World::makeEndpoint(int rank) {
  Endpoint::Limits limits;
  limits.arenaBytes = options_.arenaBytes;
  limits.windowBytesMax = options_.windowOf(rank);
  limits.windowBytesMin =
      std::min(limits.windowBytesMax, options_.windowBytesMin);
  limits.without = options_.protocol.without;
  if (options_.faults.sharedArena && rank < 2) {
    limits.arenaBudget = &sharedArena_;
  }
  auto endpoint = std::make_unique<Endpoint>(limits, reduction_);
  endpoint->shared().lateness = TimerLateness(options_.lateness);
  endpoint->shared().noticeDelay = NoticeDelay(options_.lateness);
  return endpoint;
}

// `again`: for the process that replaces one that died.
Session::Setup World::setupOf(int rank, int context, bool again) const {
  Session::Setup setup;
  setup.rank = rank;
  setup.size = options_.ranks;
  // In half of the seeds, headers do not tell contexts apart.
  setup.epoch = mix(options_.seed) +
                (static_cast<uint64_t>(context) << (options_.seed % 2 * 16)) +
                (again ? uint64_t{1} << (options_.seed % 3 * 8) : 0);
  setup.slotBytesMax = options_.slotBytes;
  setup.groups = RankGroups::equal(options_.ranks, options_.groups);
  setup.options = options_.protocolOf(rank);
  const auto number = static_cast<uint8_t>(context + (again ? 128 : 0));
  setup.multicastSeed.fill(static_cast<uint8_t>(100 + rank));
  setup.multicastSeed[1] = number;
  for (int peer = 0; peer < options_.ranks; peer++) {
    setup.windowBytes.push_back(options_.windowOf(peer));
    setup.keys.push_back(keysOf(rank, peer, number));
  }
  return setup;
}

PeerKeys World::keysOf(int rank, int peer, uint8_t number) {
  PeerKeys keys;
  keys.send.fill(static_cast<uint8_t>(rank * 16 + peer));
  keys.receive.fill(static_cast<uint8_t>(peer * 16 + rank));
  keys.sendSeal.fill(keys.send[0]);
  keys.receiveSeal.fill(keys.receive[0]);
  keys.send[1] = keys.receive[1] = number;
  keys.sendSeal[1] = keys.receiveSeal[1] = number;
  keys.sendMask.fill(keys.send[0]);
  keys.receiveMask.fill(keys.receive[0]);
  return keys;
}

void World::openSessions() {
  for (int rank = 0; rank < options_.ranks; rank++) {
    Host& host = hosts_[rank];
    host.clock = HostClock(
        options_.faults.clocks, events_.now(), mix(options_.seed + 77 * rank));
    host.left.resize(options_.contexts);
    host.endpoint = makeEndpoint(rank);
    for (int context = 0; context < options_.contexts; context++) {
      host.sessions.push_back(
          host.endpoint->open(setupOf(rank, context, false)));
    }
  }
}

SimResult World::run() {
  openSessions();
  joined_ = events_.now() + options_.deafFor;
  for (int rank = 0; rank < options_.ranks; rank++) {
    if (rank == options_.neverEnters) {
      continue;
    }
    for (int context = 0; context < options_.contexts; context++) {
      for (int thread = 0; thread < options_.threads; thread++) {
        callers_.push_back(std::make_unique<Caller>());
        Caller* const caller = callers_.back().get();
        hosts_[rank].callers.push_back(caller);
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
  sending_ = false;
  while (events_.step()) {
  }
  for (const auto& [key, outcomes] : outcomes_) {
    if (options_.checkResults) {
      checker_.check(key, outcomes);
    }
  }
  for (int rank = 0; rank < options_.ranks; rank++) {
    result_.counters.add(hosts_[rank].endpoint->shared().counters);
    if (hosts_[rank].before != nullptr) {
      result_.counters.add(hosts_[rank].before->shared().counters);
    }
    if (digest_ != nullptr) {
      digest_->counted(rank, hosts_[rank].endpoint->shared().counters);
    }
    result_.sentBytes.push_back(network_.sentBytes(rank));
  }
  checker_.checkSlowest();
  checker_.checkTraffic(result_.counters, traffic_, network_);
  if (result_.counters.get(Counter::kMismatched) > 0 &&
      options_.disagrees < 0 && options_.otherwise < 0) {
    violation("honest data counts as mismatched");
  }
  if (options_.nothingMayBeMissing() && result_.errors == 0 &&
      network_.lost(PacketType::kData) + network_.lost(PacketType::kControl) ==
          0 &&
      result_.pairsMissing > 0) {
    violation("contributions are missing, though nothing was lost or late");
  }
  checkMemory();
  result_.faults = faults_;
  result_.faults.add(network_.faults());
  result_.idle = network_.idle();
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
      (hosts_[caller->rank].closing && caller->context == 0)) {
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
                    nowAt(caller->rank));
  }
  if (!causes_.explain(caller->rank, why)) {
    violation("rank " + std::to_string(caller->rank) + " context " +
              std::to_string(caller->context) + " thread " +
              std::to_string(caller->thread) + " op " +
              std::to_string(caller->op) + " failed without a cause: " + why);
  }
  if (options_.errorEnds && !hosts_[caller->rank].closing) {
    hosts_[caller->rank].sessions[caller->context]->sendLeave(
        nowAt(caller->rank));
    const int rank = caller->rank;
    events_.after(Duration{0}, [this, rank] { pump(rank); });
  }
  closeWhenIdle(caller->rank);
}

void World::tryEnter(Caller* caller) {
  Host& host = hosts_[caller->rank];
  if (host.crashed || caller->over) {
    return;
  }
  if (host.closing && caller->context == 0) {
    caller->over = true;
    closeWhenIdle(caller->rank);
    return;
  }
  const TimePoint begins =
      std::max(caller->rank == 0 ? joined_ : TimePoint{}, host.pausedUntil);
  if (events_.now() < begins) {
    events_.at(begins, [this, caller] { tryEnter(caller); });
    return;
  }
  Session* const session = host.sessions[caller->context];
  const TimePoint now = nowAt(caller->rank);
  if (!session->failure().empty()) {
    session->announceFailure(now);
    giveUp(caller, session->failure());
    return;
  }
  const OpKey key{{caller->context, caller->thread}, caller->op};
  OpShape shape = inputs_.shapeOf(key);
  shape.elements *= caller->rank == options_.disagrees ? 2 : 1;
  shape.fingerprint = options_.protocolOf(caller->rank).fingerprint() |
                      (shape.fingerprint & OpShape::kHierarchical);
  if (!options_.noData) {
    caller->bucket.assign(shape.bytes(), std::byte{0});
    inputs_.fill(key, caller->rank, caller->bucket.data());
  }
  caller->enteredAt = now;
  caller->stillBefore = host.stoodStill;
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
  pump(caller->rank);
}

void World::poll(Caller* caller) {
  const Host& host = hosts_[caller->rank];
  Session* const session = host.sessions[caller->context];
  if (!caller->inside || !session->finished(caller->id)) {
    return;
  }
  const TimePoint now = nowAt(caller->rank);
  const Duration still = host.stoodStill - caller->stillBefore;
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
  Outcome& outcome = outcomes[caller->rank];
  // The rank that disagrees takes no part in the other ranks' op.
  outcome.there = caller->rank != options_.disagrees;
  outcome.report = session->leave(now, caller->id);
  outcome.returnedAt = events_.now();
  outcome.took = now - caller->enteredAt;
  noteLeft(*caller);
  if (tellsArrivals(caller->rank)) {
    checker_.checkArrivals(
        key, caller->rank, outcome.report, session->context(), host.arrivals);
  }
  result_.addBits(mix(key.second * 64 + caller->rank), caller->bucket);
  if (digest_ != nullptr) {
    digest_->returned(key, caller->rank, outcome.report, caller->bucket);
  }
  outcome.result.swap(caller->bucket);
  caller->bucket.clear();
  const OpReport& report = outcome.report;
  result_.add(report);
  if (report.trace != nullptr) {
    result_.traces.push_back({caller->context,
                              caller->rank,
                              report.op,
                              inputs_.shapeOf(key).bytes(),
                              report.trace});
  }
  returned_.insert(key);
  // A call may have waited for other ranks before it began its op.
  const Left& left = hosts_[caller->rank].left[caller->context];
  const Options protocol = options_.protocolOf(caller->rank);
  const bool leads =
      left.ops > protocol.leadOps || left.bytes > protocol.leadBytes;
  const bool waitsForRoom = options_.arenaBytes < kRoomyArena;
  checker_.checkTime(key,
                     caller->rank,
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
  Left& left = hosts_[caller.rank].left[caller.context];
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
    const Host& host = hosts_[rank];
    size_t ops = 0;
    for (const Session* session : host.sessions) {
      ops += session == nullptr ? 0 : session->opsHeld();
    }
    const size_t bytes = host.endpoint->shared().arena.usedBytes();
    if (ops > 0 || bytes > 0) {
      violation("rank " + std::to_string(rank) + " still holds " +
                std::to_string(ops) + " ops and " + std::to_string(bytes) +
                " bytes of its arena at the end");
    }
  }
}

}  // namespace ubt::sim
