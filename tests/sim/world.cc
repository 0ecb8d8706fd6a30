// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/world.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "tests/sim/plain_reduction.h"

namespace ubt::sim {
namespace {

constexpr Duration kThink = std::chrono::microseconds(50);
constexpr Duration kSettle = std::chrono::seconds(2);
constexpr TimePoint kEndOfTime{std::chrono::minutes(30)};
constexpr size_t kViolationsMax = 20;

uint64_t hashOf(const std::vector<std::byte>& bytes, uint64_t hash) {
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<uint64_t>(byte)) * 0x100000001b3ULL;
  }
  return mix(hash);
}

}  // namespace

World::World(const SimOptions& options)
    : options_(options),
      inputs_(options_),
      random_(options.seed ^ options.timingSeed << 32 ^ 0x776f726c64),
      network_(options_,
               &events_,
               [this](int rank, const Network::Datagram& datagram) {
                 Host& host = hosts_[rank];
                 const bool deaf = rank == 0 && events_.now() < joined_;
                 if (host.crashed || deaf) {
                   (Network::typeOf(datagram) == PacketType::kData
                        ? dataToCrashed_
                        : controlToCrashed_)++;
                   return;
                 }
                 host.endpoint->packetIn(
                     events_.now(), datagram.data(), datagram.size());
                 pump(rank);
               }),
      hosts_(options.ranks) {}

World::~World() = default;

void World::violation(const std::string& what) {
  if (result_.violations.size() < kViolationsMax) {
    result_.violations.push_back(what);
  }
}

Options World::protocolOf(int rank) const {
  Options protocol = options_.protocol;
  if (rank == options_.otherwise) {
    protocol.auth =
        protocol.auth == AuthMode::kAead ? AuthMode::kHeader : AuthMode::kAead;
  }
  return protocol;
}

void World::openSessions() {
  Endpoint::Limits limits;
  limits.arenaBytes = options_.arenaBytes;
  limits.windowBytesMin = std::min<uint64_t>(options_.windowBytes, 8 << 10);
  limits.windowBytesMax = options_.windowBytes;
  for (int rank = 0; rank < options_.ranks; rank++) {
    Host& host = hosts_[rank];
    host.endpoint = std::make_unique<Endpoint>(limits, plainReduction());
    for (int context = 0; context < options_.contexts; context++) {
      Session::Setup setup;
      setup.rank = rank;
      setup.size = options_.ranks;
      setup.epoch = mix(options_.seed) + context;
      setup.slotBytesMax = options_.slotBytes;
      setup.options = protocolOf(rank);
      setup.windowBytes.assign(options_.ranks, options_.windowBytes);
      for (int peer = 0; peer < options_.ranks; peer++) {
        PeerKeys keys;
        keys.send.fill(static_cast<uint8_t>(rank * 16 + peer));
        keys.receive.fill(static_cast<uint8_t>(peer * 16 + rank));
        keys.sendSeal.fill(keys.send[0]);
        keys.receiveSeal.fill(keys.receive[0]);
        setup.keys.push_back(keys);
      }
      host.sessions.push_back(host.endpoint->open(setup));
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
        caller->rank = rank;
        caller->context = context;
        caller->thread = thread;
        caller->op = -1;
        next(caller);
      }
    }
  }
  if (options_.crashes >= 0) {
    events_.after(options_.crashAt, [this] { crash(options_.crashes); });
  }
  while (!allOver() && events_.now() < kEndOfTime && events_.step()) {
  }
  if (!allOver()) {
    violation("a caller hangs: neither a result nor an error");
  }
  const TimePoint settled = events_.now() + kSettle;
  while (events_.now() < settled && events_.step()) {
  }
  sending_ = false;
  while (events_.step()) {
  }
  for (const auto& [key, outcomes] : outcomes_) {
    check(key, outcomes);
  }
  checkDatagramAccounts();
  return result_;
}

bool World::allOver() const {
  return std::all_of(callers_.begin(), callers_.end(), [this](auto& caller) {
    return caller->over || hosts_[caller->rank].crashed;
  });
}

// Callers --------------------------------------------------------------------

void World::next(Caller* caller) {
  caller->op++;
  if (caller->op == options_.ops) {
    caller->over = true;
    return;
  }
  Duration pause{static_cast<int64_t>(random_() % kThink.count())};
  if (std::uniform_real_distribution<>()(random_) < options_.lateOps) {
    pause += options_.lateBy;
  }
  if (options_.opposite && caller->op == 0 &&
      (caller->thread + caller->rank) % 2 == 1) {
    pause += options_.lateBy;
  }
  events_.after(pause, [this, caller] { tryEnter(caller); });
}

void World::giveUp(Caller* caller, const std::string& why) {
  caller->over = true;
  caller->inside = false;
  result_.errors++;
  result_.errorTexts.push_back(why);
  if (options_.errorEnds) {
    hosts_[caller->rank].sessions[caller->context]->sendLeave();
    const int rank = caller->rank;
    events_.after(Duration{0}, [this, rank] { pump(rank); });
  }
}

void World::tryEnter(Caller* caller) {
  Host& host = hosts_[caller->rank];
  if (host.crashed || caller->over) {
    return;
  }
  Session* const session = host.sessions[caller->context];
  const TimePoint now = events_.now();
  if (caller->rank == 0 && now < joined_) {
    events_.at(joined_, [this, caller] { tryEnter(caller); });
    return;
  }
  if (!session->failure().empty()) {
    giveUp(caller, session->failure());
    return;
  }
  const OpKey key{{caller->context, caller->thread}, caller->op};
  OpShape shape = inputs_.shapeOf(key);
  shape.elements *= caller->rank == options_.disagrees ? 2 : 1;
  shape.fingerprint = protocolOf(caller->rank).fingerprint();
  caller->bucket.assign(shape.bytes(), std::byte{0});
  inputs_.fill(key, caller->rank, caller->bucket.data());
  caller->enteredAt = now;
  // Half of the callers use one tag for ever, the others a new one each time;
  // half of them tags of the options form, the others those same tags of the
  // class form.
  shape.space =
      caller->thread / 2 % 2 == 0 ? TagSpace::kOptions : TagSpace::kClass;
  const int base = caller->thread / 4;
  const int tag =
      caller->thread % 2 == 0 ? base : (base + 1) * 100000 + caller->op;
  caller->inside = true;
  caller->id = session->enter(now, tag, shape, caller->bucket.data());
  pump(caller->rank);
}

void World::poll(Caller* caller) {
  Session* const session = hosts_[caller->rank].sessions[caller->context];
  if (!caller->inside || !session->finished(caller->id)) {
    return;
  }
  const TimePoint now = events_.now();
  const OpKey key{{caller->context, caller->thread}, caller->op};
  caller->inside = false;
  if (!session->failure(caller->id).empty()) {
    const std::string why = session->failure(caller->id);
    session->leave(now, caller->id);
    if (now - caller->enteredAt > options_.protocol.timeout) {
      violation("an error later than the timeout: " + why);
    }
    giveUp(caller, why);
    return;
  }
  auto& outcomes = outcomes_[key];
  outcomes.resize(options_.ranks);
  Outcome& outcome = outcomes[caller->rank];
  outcome.there = true;
  outcome.report = session->leave(now, caller->id);
  result_.resultBits ^=
      hashOf(caller->bucket, mix(key.second * 64 + caller->rank));
  outcome.result.swap(caller->bucket);
  caller->bucket.clear();
  const OpReport& report = outcome.report;
  result_.ops++;
  result_.boundedOps += report.bounded;
  result_.pairsMissing += report.pairsMissing;
  result_.driftElements += report.driftElements;
  for (int rank = 0; rank < options_.ranks; rank++) {
    result_.repairedBytes +=
        report.scatter[rank].repaired + report.broadcast[rank].repaired;
  }
  if (report.elapsed > report.hardBound) {
    violation("an op outlasted its hard bound");
  }
  if (std::all_of(
          outcomes.begin(), outcomes.end(), [](auto& o) { return o.there; })) {
    check(key, outcomes);
    outcomes_.erase(key);
  }
  next(caller);
}

void World::crash(int rank) {
  hosts_[rank].crashed = true;
  for (int peer = 0; peer < options_.ranks; peer++) {
    if (peer == rank) {
      continue;
    }
    const Duration seenAfter =
        options_.crashSeenAfter + options_.crashSeenSpread * peer;
    events_.after(seenAfter, [this, peer, rank] {
      for (Session* session : hosts_[peer].sessions) {
        session->peerClosed(rank, "rank " + std::to_string(rank) + " died");
      }
      pump(peer);
    });
  }
}

// The driver: what sockets and threads do in the real one.
void World::pump(int rank) {
  Host& host = hosts_[rank];
  if (host.crashed || !sending_) {
    return;
  }
  OutPacket packet;
  for (;;) {
    while (host.endpoint->packetOut(events_.now(), &packet) != nullptr) {
      Network::Datagram datagram(packet.head, packet.head + packet.headBytes);
      if (packet.payload != nullptr) {
        datagram.insert(datagram.end(),
                        packet.payload,
                        packet.payload + packet.payloadBytes);
      }
      network_.send(rank, packet.peer, datagram);
    }
    if (host.endpoint->nextDeadline() > events_.now()) {
      break;
    }
    host.endpoint->deadlinePassed(events_.now());
  }
  const Arena& arena = host.endpoint->shared().arena;
  if (arena.heldBytes() > arena.limitBytes()) {
    violation("the arena holds more than its limit");
  }
  for (auto& caller : callers_) {
    if (caller->rank == rank) {
      poll(caller.get());
    }
  }
  wake(rank, host.endpoint->nextDeadline());
}

void World::wake(int rank, TimePoint when) {
  Host& host = hosts_[rank];
  if (when == kNever || (host.wakeAt != kNever && host.wakeAt <= when)) {
    return;
  }
  host.wakeAt = when;
  events_.at(when, [this, rank, when] {
    Host& woken = hosts_[rank];
    if (woken.wakeAt != when) {
      return;
    }
    woken.wakeAt = kNever;
    pump(rank);
  });
}

// Checks ---------------------------------------------------------------------

void World::check(const OpKey& key, const std::vector<Outcome>& outcomes) {
  for (int rank = 0; rank < options_.ranks; rank++) {
    if (outcomes[rank].there) {
      checkStageBytes(key, rank, outcomes[rank].report);
      checkResult(key, rank, outcomes);
    }
  }
}

// expected = received + absent + late + refused + lost, by peer and stage.
void World::checkStageBytes(const OpKey& key,
                            int rank,
                            const OpReport& report) {
  const ShardLayout layout(
      inputs_.shapeOf(key), options_.ranks, options_.slotBytes);
  const auto checkOne = [&](const char* stage,
                            int peer,
                            uint64_t shard,
                            const StageBytes& bytes) {
    const uint64_t told =
        bytes.received + bytes.absent + bytes.late + bytes.refused + bytes.lost;
    if (bytes.expected != (peer == rank ? 0 : shard) ||
        told != bytes.expected || bytes.lost > bytes.expected ||
        bytes.repaired > bytes.received) {
      std::ostringstream what;
      what << "rank " << rank << " op " << key.second << " " << stage
           << " stage, rank " << peer << ": of " << bytes.expected
           << " bytes received " << bytes.received << ", repaired "
           << bytes.repaired << ", absent " << bytes.absent << ", late "
           << bytes.late << ", refused " << bytes.refused << ", lost "
           << bytes.lost;
      violation(what.str());
    }
  };
  for (int peer = 0; peer < options_.ranks; peer++) {
    checkOne("scatter", peer, layout.shardSize(rank), report.scatter[peer]);
    checkOne("broadcast", peer, layout.shardSize(peer), report.broadcast[peer]);
  }
}

// Every element equals the reduction of exactly the contributors that the
// owner reports, rescaled, or, where this rank reports drift, its fill.
void World::checkResult(const OpKey& key,
                        int rank,
                        const std::vector<Outcome>& outcomes) {
  const OpShape shape = inputs_.shapeOf(key);
  const Outcome& mine = outcomes[rank];
  const ShardLayout layout(shape, options_.ranks, options_.slotBytes);
  uint64_t filled = 0;
  uint64_t missing = 0;
  bool ownersKnown = true;
  for (int owner = 0; owner < options_.ranks; owner++) {
    if (!outcomes[owner].there) {
      ownersKnown = false;
      continue;
    }
    const auto& contributors = outcomes[owner].report.contributors;
    const size_t first = layout.shardOffset(owner) / elementSize(shape.type);
    for (uint32_t slot = 0; slot < layout.slots(owner); slot++) {
      int count = 0;
      for (int c = 0; c < options_.ranks; c++) {
        count += contributors[c].test(slot);
      }
      bool same = true;
      bool fill = true;
      const size_t begin =
          first + layout.slotOffset(slot) / elementSize(shape.type);
      const size_t end = begin + layout.slotElements(owner, slot);
      for (size_t i = begin; i < end; i++) {
        const double got = Inputs::load(shape, mine.result.data(), i);
        same = same && inputs_.isSum(key, contributors, slot, i, got);
        fill = fill && got == inputs_.fillOf(key, rank, i);
      }
      const bool drifted =
          !same && fill && rank != owner && mine.report.driftElements > 0;
      if (!same && !drifted) {
        std::ostringstream what;
        what << "rank " << rank << " op " << key.second << " owner " << owner
             << " slot " << slot << ": not the sum of its " << count
             << " reported contributors";
        violation(what.str());
      }
      filled += drifted ? end - begin : 0;
      missing += (drifted ? options_.ranks - 1 : options_.ranks - count) *
                 (end - begin);
    }
  }
  // A fill may happen to equal the sum; then it is seen as the sum.
  if (filled > mine.report.driftElements) {
    violation("more elements drifted than the report says");
  }
  if (ownersKnown && mine.report.driftElements == 0 &&
      missing != mine.report.pairsMissing) {
    std::ostringstream what;
    what << "rank " << rank << " op " << key.second << " reports "
         << mine.report.pairsMissing << " missing pairs of " << missing;
    violation(what.str());
  }
}

// sent + duplicated = accepted + duplicate + late + rejected + lost.
void World::checkDatagramAccounts() {
  for (const Host& host : hosts_) {
    const Counters& counters = host.endpoint->shared().counters;
    for (size_t i = 0; i < static_cast<size_t>(Counter::kCounters); i++) {
      const auto counter = static_cast<Counter>(i);
      result_.counters.add(counter, counters.get(counter));
    }
  }
  const auto total = [this](Counter c) { return result_.counters.get(c); };
  const auto balance = [&](const char* what,
                           uint64_t sent,
                           uint64_t ended,
                           std::initializer_list<Counter> ends) {
    for (const Counter end : ends) {
      ended += total(end);
    }
    if (sent != ended) {
      violation(std::string(what) + " datagrams: " + std::to_string(sent) +
                " went out, " + std::to_string(ended) + " are accounted for");
    }
  };
  balance("data",
          total(Counter::kSentData) + network_.duplicated(PacketType::kData),
          network_.lost(PacketType::kData) + dataToCrashed_,
          {Counter::kAcceptedData,
           Counter::kDuplicateData,
           Counter::kLateData,
           Counter::kUnannounced,
           Counter::kMismatched,
           Counter::kTooEarly,
           Counter::kArenaFull});
  balance(
      "control",
      total(Counter::kSentControl) + network_.duplicated(PacketType::kControl),
      network_.lost(PacketType::kControl) + controlToCrashed_,
      {Counter::kAcceptedControl, Counter::kReplayed, Counter::kClosedPeer});
  for (const Counter never : {Counter::kMalformed,
                              Counter::kUnknownEpoch,
                              Counter::kWrongRank,
                              Counter::kBadTag}) {
    if (total(never) > 0) {
      violation(std::string("honest ranks caused ") + counterName(never));
    }
  }
}

}  // namespace ubt::sim
