// SPDX-License-Identifier: Apache-2.0
#include "tests/chooser/small_job.h"

#include <algorithm>
#include <cstdio>

#include "tests/support/failing_heap.h"
#include "transport_ubt/sim/plain_reduction.h"

namespace ubt::chooser {
namespace {

constexpr size_t kSlotBytes = 64;
constexpr uint64_t kEpoch = 7;
constexpr Duration kBound = std::chrono::milliseconds(10);
constexpr Duration kTimeout = std::chrono::milliseconds(400);
// Longer than every bound; with repair `both` a bound is 4 * kBound.
constexpr Duration kHoldFor = 5 * kBound;
// Longer than all calls that wait for a rank, one after another.
constexpr Duration kMissFor = 3 * kTimeout;
// The time that each event takes, so that round trips can be measured. Retries
// follow the round trip.
constexpr Duration kEventTakes = std::chrono::microseconds(1);
// Events just before a timeout may delay the end of its call by this.
constexpr Duration kSlack = std::chrono::milliseconds(1);
// In a smaller arena, contributions to an op may get lost before a rank enters
// it.
constexpr size_t kRoomyArena = 64 << 10;
// More allocations than most verbs make.
constexpr uint8_t kStarvedAfterMax = 6;
constexpr uint32_t kStepsMax = 5000;
constexpr int kTurnsMax = 100;

const Reduction& reduction() {
  static const Reduction plain = sim::plainReduction();
  return plain;
}

std::string name(int rank) {
  return "rank " + std::to_string(rank);
}

// Whether all ranks have returned from an op.
bool isThere(const std::vector<Outcome>& outcomes) {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
    return outcome.there;
  });
}

}  // namespace

Options SmallJob::protocolOf(const JobOptions& options) {
  Options protocol;
  protocol.repair = options.repair;
  protocol.hadamard = Hadamard::kNever;
  if (!options.exact) {
    protocol.warmupOps = 0;
    protocol.boundScatter = protocol.boundBroadcast = kBound;
  }
  // Nothing is zeroed, so that missing contributions show in a sum.
  protocol.zeroLoss = 0;
  protocol.haltLoss = 0;
  protocol.leadOps = 1;
  protocol.timeout = kTimeout;
  return protocol;
}

SmallJob::SmallJob(const JobOptions& options)
    : options_(options),
      check_(options.ranks, options.slots, kSlotBytes, protocolOf(options)),
      ranks_(options.ranks),
      outcomes_(options.ops, std::vector<Outcome>(options.ranks)),
      calm_(options.arenaBytes >= kRoomyArena) {
  for (int rank = 0; rank < options.ranks; rank++) {
    open(rank);
    Event entry;
    entry.kind = Event::Kind::kEntry;
    entry.rank = rank;
    events_.push_back(entry);
  }
}

void SmallJob::open(int rank) {
  Endpoint::Limits limits;
  limits.arenaBytes = options_.arenaBytes;
  limits.windowBytesMin = limits.windowBytesMax = options_.windowBytes;
  Session::Setup setup;
  setup.rank = rank;
  setup.size = options_.ranks;
  setup.epoch = kEpoch;
  setup.slotBytesMax = kSlotBytes;
  setup.windowBytes.assign(options_.ranks, limits.windowBytesMax);
  setup.options = protocolOf(options_);
  for (int peer = 0; peer < options_.ranks; peer++) {
    PeerKeys keys;
    keys.send.fill(static_cast<uint8_t>(rank * 16 + peer));
    keys.receive.fill(static_cast<uint8_t>(peer * 16 + rank));
    setup.keys.push_back(keys);
  }
  ranks_[rank].endpoint = std::make_unique<Endpoint>(limits, reduction());
  ranks_[rank].session = ranks_[rank].endpoint->open(setup);
}

std::string SmallJob::run(const Schedule& schedule,
                          std::vector<Deviation>* offered) {
  size_t at = 0;
  for (; violation_.empty() && !isOver(); step_++) {
    if (step_ == kStepsMax) {
      violation("a call hangs, or what it needs is kept for ever");
      break;
    }
    if (at < schedule.size() && schedule[at].step == step_) {
      const Deviation& deviation = schedule[at++];
      if (!offers(deviation)) {
        violation("the schedule is no one of this job");
        break;
      }
      deviate(deviation);
      continue;
    }
    if (offered != nullptr && at == schedule.size()) {
      offer(offered);
    }
    usual();
  }
  if (violation_.empty()) {
    checkEnd();
  }
  return violation_;
}

bool SmallJob::isOver() const {
  if (!events_.empty() || !held_.empty()) {
    return false;
  }
  for (const Rank& rank : ranks_) {
    if (!rank.over) {
      return false;
    }
    // After an error a rank may keep data for one that is gone.
    if (errors_.empty() && faults_ == 0 && rank.session != nullptr &&
        rank.session->opsHeld() > 0) {
      return false;
    }
  }
  return true;
}

bool SmallJob::canLeave(int rank) const {
  const Rank& me = ranks_[rank];
  return me.session != nullptr && me.over && me.session->failure().empty() &&
         !me.session->lingering();
}

TimePoint SmallJob::nextDeadline(int* rank) const {
  TimePoint next = kNever;
  for (int i = 0; i < options_.ranks; i++) {
    if (ranks_[i].session != nullptr && !isStopped(i) &&
        ranks_[i].endpoint->nextDeadline() < next) {
      next = ranks_[i].endpoint->nextDeadline();
      *rank = i;
    }
  }
  return next;
}

// Choices --------------------------------------------------------------------

// It makes no difference to drop, hold or copy an event before it is the
// oldest. Only the order of events at one rank matters.
void SmallJob::offer(std::vector<Deviation>* offered) const {
  const auto add = [&](Choice choice, size_t which = 0) {
    offered->push_back({step_, choice, static_cast<uint8_t>(which)});
  };
  int next = 0;
  const TimePoint deadline = nextDeadline(&next);
  if (events_.empty()) {
    if (deadline != kNever) {
      offerForRank(next, offered);
    }
    return;
  }
  const Event& oldest = events_.front();
  if (events_.size() > 1) {
    add(Choice::kPostpone);
    if (holds_ < options_.holds) {
      add(Choice::kStall);
    }
  }
  unsigned seen = 1u << oldest.rank;
  for (size_t i = 1; i < events_.size(); i++) {
    if (seen >> events_[i].rank & 1) {
      add(Choice::kOvertake, i);
    }
    seen |= 1u << events_[i].rank;
  }
  if (oldest.kind == Event::Kind::kDatagram) {
    if (drops_ < options_.drops) {
      add(Choice::kDrop);
    }
    if (duplicates_ < options_.duplicates) {
      add(Choice::kDuplicate);
    }
  }
  if (holds_ < options_.holds) {
    add(Choice::kHold);
  }
  if (oldest.kind == Event::Kind::kEntry && faults_ < options_.faults) {
    add(Choice::kMiss);
  }
  // Otherwise a call may time out while all the data that it needs is in
  // flight.
  if (deadline <= now_ + kHoldFor) {
    add(Choice::kDeadline);
  }
  offerForRank(oldest.rank, offered);
}

void SmallJob::offerForRank(int rank, std::vector<Deviation>* offered) const {
  const Rank& me = ranks_[rank];
  if (me.session == nullptr) {
    return;
  }
  if (faults_ < options_.faults) {
    for (int peer = 0; peer < options_.ranks; peer++) {
      if (peer != rank && ranks_[peer].session != nullptr) {
        offered->push_back({step_, Choice::kClose, static_cast<uint8_t>(peer)});
      }
    }
    for (uint8_t before = 0; before < kStarvedAfterMax; before++) {
      if (starves_ < options_.starves) {
        offered->push_back({step_, Choice::kStarve, before});
      }
    }
    offered->push_back({step_, Choice::kCrash, 0});
    offered->push_back({step_, Choice::kStop, 0});
  }
  if (canLeave(rank)) {
    offered->push_back({step_, Choice::kLeave, 0});
  }
}

bool SmallJob::offers(const Deviation& deviation) const {
  std::vector<Deviation> offered;
  offer(&offered);
  return std::any_of(offered.begin(), offered.end(), [&](const auto& other) {
    return other.choice == deviation.choice && other.which == deviation.which;
  });
}

void SmallJob::usual() {
  if (events_.empty()) {
    passTime();
  } else {
    happenAt(0);
  }
}

void SmallJob::deviate(const Deviation& deviation) {
  note(toText({deviation}));
  int rank = 0;
  if (events_.empty()) {
    nextDeadline(&rank);
  } else {
    rank = events_.front().rank;
  }
  switch (deviation.choice) {
    case Choice::kOvertake:
      happenAt(deviation.which);
      break;
    case Choice::kPostpone:
      events_.push_back(events_.front());
      events_.pop_front();
      break;
    case Choice::kDrop:
      drops_++;
      calm_ = false;
      events_.pop_front();
      break;
    case Choice::kDuplicate: {
      duplicates_++;
      const Event copy = events_.front();
      happenAt(0);
      events_.push_back(copy);
      break;
    }
    case Choice::kHold:
      holds_++;
      hold(now_ + kHoldFor);
      break;
    case Choice::kMiss:
      faults_++;
      culprits_ = {rank};
      hold(now_ + kMissFor);
      break;
    case Choice::kStall:
      holds_++;
      while (!events_.empty()) {
        hold(now_ + kHoldFor);
      }
      break;
    case Choice::kDeadline:
      calm_ = false;
      passDeadline();
      break;
    case Choice::kClose:
      close(rank, deviation.which);
      break;
    case Choice::kCrash:
      crash(rank);
      break;
    case Choice::kStop:
      faults_++;
      stops_++;
      culprits_ = {rank};
      calm_ = false;
      ranks_[rank].stoppedUntil = now_ + kMissFor;
      break;
    case Choice::kLeave:
      leave(rank);
      break;
    case Choice::kStarve:
      starve(rank, deviation.which);
      break;
  }
}

// If an allocation fails, the rank is at fault from then on.
void SmallJob::starve(int rank, uint64_t after) {
  const std::vector<int> culprits = culprits_;
  const bool calm = calm_;
  starves_++;
  starving_ = rank;
  culprits_ = {rank};
  calm_ = false;
  FailingHeap::failAfter(after);
  usual();
  FailingHeap::heal();
  starving_ = -1;
  if (FailingHeap::failures() > 0) {
    faults_++;
  } else {
    culprits_ = culprits;
    calm_ = calm;
  }
}

void SmallJob::hold(TimePoint until) {
  calm_ = calm_ && events_.front().kind != Event::Kind::kDatagram;
  held_.push_back({until, events_.front()});
  events_.pop_front();
}

void SmallJob::happenAt(size_t index) {
  const Event event = events_[index];
  events_.erase(events_.begin() + static_cast<ptrdiff_t>(index));
  now_ += kEventTakes;
  happen(event);
}

void SmallJob::happen(const Event& event) {
  Rank& me = ranks_[event.rank];
  if (me.session == nullptr) {
    return;
  }
  if (isStopped(event.rank)) {
    held_.push_back({me.stoppedUntil, event});
    return;
  }
  switch (event.kind) {
    case Event::Kind::kDatagram:
      note(name(event.rank) + " hears rank " + std::to_string(event.from));
      verb(event.rank, [&] {
        me.endpoint->packetIn(now_, event.datagram.data(), event.bytes);
      });
      break;
    case Event::Kind::kEntry:
      enter(event.rank);
      break;
    case Event::Kind::kNews:
      note(name(event.rank) + " loses rank " + std::to_string(event.from));
      verb(event.rank, [&, why = name(event.from) + " is gone"] {
        me.session->peerClosed(now_, event.from, why);
      });
      break;
  }
  pump(event.rank);
}

void SmallJob::passTime() {
  TimePoint release = kNever;
  for (const Held& held : held_) {
    release = std::min(release, held.until);
  }
  for (int rank = 0; rank < options_.ranks; rank++) {
    if (isStopped(rank)) {
      release = std::min(release, ranks_[rank].stoppedUntil);
    }
  }
  int rank = 0;
  const TimePoint deadline = nextDeadline(&rank);
  if (std::min(release, deadline) == kNever) {
    violation("nothing can happen any more, and calls or memory are left");
  } else if (release <= deadline) {
    now_ = std::max(now_, release);
    releaseHeld();
  } else {
    passDeadline();
  }
}

void SmallJob::passDeadline() {
  int rank = 0;
  now_ = std::max(now_, nextDeadline(&rank));
  note(name(rank) + ": a deadline passes");
  pump(rank);
}

void SmallJob::releaseHeld() {
  const auto due = [this](const Held& held) { return held.until <= now_; };
  for (const Held& held : held_) {
    if (due(held)) {
      events_.push_back(held.event);
    }
  }
  held_.erase(std::remove_if(held_.begin(), held_.end(), due), held_.end());
}

// Both ends notice: this one at once, the peer by an event.
void SmallJob::close(int rank, int peer) {
  faults_++;
  culprits_ = {rank, peer};
  calm_ = false;
  Event news;
  news.kind = Event::Kind::kNews;
  news.rank = peer;
  news.from = rank;
  events_.push_back(news);
  std::swap(news.rank, news.from);
  happen(news);
}

void SmallJob::crash(int rank) {
  faults_++;
  culprits_ = {rank};
  calm_ = false;
  ranks_[rank].inside = false;
  ranks_[rank].over = true;
  vanish(rank);
}

void SmallJob::leave(int rank) {
  Rank& me = ranks_[rank];
  me.session->sendLeave(now_);
  sendAll(rank);
  if (me.session->opsHeld() > 0) {
    violation(name(rank) + " leaves, and still holds ops");
  }
  vanish(rank);
}

// The connections of the other ranks to it close.
void SmallJob::vanish(int rank) {
  ranks_[rank].session = nullptr;
  ranks_[rank].endpoint.reset();
  for (int peer = 0; peer < options_.ranks; peer++) {
    if (peer != rank) {
      Event news;
      news.kind = Event::Kind::kNews;
      news.rank = peer;
      news.from = rank;
      events_.push_back(news);
    }
  }
}

// Ranks ----------------------------------------------------------------------

void SmallJob::enter(int rank) {
  Rank& me = ranks_[rank];
  if (!me.session->failure().empty()) {
    verb(rank, [&] { me.session->announceFailure(now_); });
    giveUp(rank, me.session->failure());
    return;
  }
  const OpShape shape = check_.shape();
  note(name(rank) + " enters op " + std::to_string(me.op));
  me.bucket.resize(shape.elements);
  for (size_t i = 0; i < shape.elements; i++) {
    me.bucket[i] = check_.contribution(me.op, rank, i);
  }
  me.inside = true;
  me.enteredAt = now_;
  me.id = verb(rank, [&] {
    return me.session->enter(
        now_, 0, shape, reinterpret_cast<std::byte*>(me.bucket.data()));
  });
}

template <typename Verb>
auto SmallJob::verb(int rank, const Verb& verb) -> decltype(verb()) {
  if (rank != starving_) {
    return verb();
  }
  const FailingHeap::Scope scope;
  return verb();
}

// Acts like a driver after each event.
void SmallJob::pump(int rank) {
  Rank& me = ranks_[rank];
  verb(rank, [&] { me.endpoint->drained(now_); });
  for (int turn = 0; turn < kTurnsMax; turn++) {
    sendAll(rank);
    if (me.endpoint->nextDeadline() <= now_) {
      verb(rank, [&] { me.endpoint->deadlinePassed(now_); });
    } else if (!poll(rank)) {
      return;
    }
  }
  violation(name(rank) + ": a deadline does not pass");
}

void SmallJob::sendAll(int rank) {
  OutPacket packet;
  while (verb(rank, [&] {
           return ranks_[rank].endpoint->packetOut(now_, &packet);
         }) != nullptr) {
    Event event;
    event.rank = packet.peer;
    event.from = rank;
    event.bytes = packet.headBytes + packet.payloadBytes;
    if (event.bytes > kDatagramBytesMax || packet.peer == rank) {
      violation(name(rank) + " sends a datagram that it may not");
      return;
    }
    std::copy_n(packet.head, packet.headBytes, event.datagram.data());
    std::copy_n(packet.payload,
                packet.payloadBytes,
                event.datagram.data() + packet.headBytes);
    if (ranks_[packet.peer].session != nullptr) {
      events_.push_back(event);
    }
  }
}

// Returns whether a call has ended.
bool SmallJob::poll(int rank) {
  Rank& me = ranks_[rank];
  if (!me.inside || !me.session->finished(me.id)) {
    return false;
  }
  me.inside = false;
  std::string why = me.session->failure(me.id);
  // A stopped rank ends its call late.
  if (now_ - std::max(me.enteredAt, me.stoppedUntil) > kTimeout + kSlack) {
    violation(name(rank) + ": a call outlasts its timeout");
  }
  OpReport report = verb(rank, [&] { return me.session->leave(now_, me.id); });
  why = why.empty() && me.session->broken() ? me.session->failure() : why;
  if (!why.empty()) {
    giveUp(rank, why);
    return true;
  }
  note(name(rank) + " returns from op " + std::to_string(me.op));
  std::vector<Outcome>& outcomes = outcomes_[me.op];
  outcomes[rank] = {true, std::move(report), std::move(me.bucket)};
  me.bucket.clear();
  if (isThere(outcomes)) {
    checkOp(me.op);
  }
  checkLead(rank);
  if (++me.op == options_.ops) {
    me.over = true;
    return true;
  }
  Event entry;
  entry.kind = Event::Kind::kEntry;
  entry.rank = rank;
  events_.push_back(entry);
  return true;
}

void SmallJob::giveUp(int rank, const std::string& why) {
  note(name(rank) + ", op " + std::to_string(ranks_[rank].op) + ": " + why);
  ranks_[rank].over = true;
  errors_.push_back(why);
  if (culprits_.empty()) {
    violation("a call throws, and nothing is wrong: " + why);
    return;
  }
  // A rank that was stopped does not know that, and blames the others.
  if (ranks_[rank].stoppedUntil == TimePoint{} && !blamesRightly(why)) {
    violation("an error does not name the culprit, or an innocent: " + why);
  }
}

bool SmallJob::isCulprit(int rank) const {
  return std::find(culprits_.begin(), culprits_.end(), rank) != culprits_.end();
}

// Every error must name the culprit. A timeout names no other rank, with two
// exceptions. In warm-up, owners that lack a contribution of the culprit cannot
// deliver. In a small arena, ranks wait for room. If a stopped rank of a
// warm-up op owes data to another rank only, the error does not name it at all.
bool SmallJob::blamesRightly(const std::string& why) const {
  if (options_.exact && stops_ > 0) {
    return true;
  }
  const bool timedOut = why.find("timed out") != std::string::npos &&
                        !options_.exact && options_.arenaBytes >= kRoomyArena;
  bool named = false;
  for (int rank = 0; rank < options_.ranks; rank++) {
    if (why.find(name(rank)) != std::string::npos) {
      named = named || isCulprit(rank);
      if (timedOut && !isCulprit(rank)) {
        return false;
      }
    }
  }
  return named;
}

// Checks ---------------------------------------------------------------------

void SmallJob::checkOp(int op) {
  const std::string bad = check_.check(op, outcomes_[op], calm_);
  if (!bad.empty()) {
    violation("op " + std::to_string(op) + ": " + bad);
  }
}

// With a lead of one op, the first rank to begin an op knows that all ranks
// have finished the one before.
void SmallJob::checkLead(int rank) {
  for (const Rank& other : ranks_) {
    if (other.session != nullptr && !other.over && other.op < ranks_[rank].op) {
      violation(name(rank) + " is two ops ahead of another rank");
    }
  }
}

void SmallJob::checkEnd() {
  for (int op = 0; op < options_.ops; op++) {
    if (!isThere(outcomes_[op])) {  // if it is there, it has been checked
      checkOp(op);
    }
  }
  for (int rank = 0; rank < options_.ranks; rank++) {
    const Rank& me = ranks_[rank];
    if (me.session != nullptr && errors_.empty() && faults_ == 0 &&
        me.endpoint->shared().arena.usedBytes() > 0) {
      violation(name(rank) + " keeps something for nobody");
    }
  }
}

void SmallJob::violation(const std::string& what) {
  if (violation_.empty()) {
    violation_ = what;
    note("VIOLATION " + what);
  }
}

void SmallJob::note(const std::string& what) const {
  if (tracing_) {
    const std::chrono::duration<double, std::milli> since =
        now_.time_since_epoch() - std::chrono::seconds(1);
    std::printf("%4u %9.3f ms  %s\n", step_, since.count(), what.c_str());
  }
}

}  // namespace ubt::chooser
