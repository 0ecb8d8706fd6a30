// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/driver.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <iterator>
#include <thread>
#include <utility>

#include "transport_ubt/io/steady_now.h"

namespace ubt {
namespace {

// Maximum work of one turn.
constexpr int kReceivesPerTurn = 16;
constexpr int kTrainsPerTurn = 4;
// The service thread releases the mutex after this many turns.
constexpr int kTurnsPerService = 8;
// A call that ends sends its last datagrams in at most this many turns.
constexpr int kTurnsToSendAll = 64;
// A deadline waits until the socket is drained, but at most this long: a
// flooded socket is never drained.
constexpr Duration kOverdueMax = std::chrono::milliseconds(10);
// Maximum wait for a thread that asked for the mutex: it may never take it.
constexpr Duration kMakeWayMax = std::chrono::milliseconds(1);
// A full socket is tried again after at most this time.
constexpr Duration kSendRetry = std::chrono::milliseconds(1);
// close() waits at most this long for room to send why the context ends.
constexpr Duration kLeaveMax = std::chrono::milliseconds(20);
// Buffer bytes for each payload byte: the kernel also counts headers and slack.
constexpr uint64_t kBufferPerPayload = 2;

int othersAt(const SocketAddress& here,
             const std::vector<SocketAddress>& addresses) {
  return static_cast<int>(std::count_if(
      addresses.begin(), addresses.end(), [&](const SocketAddress& address) {
        return address.sameHost(here);
      }));
}

}  // namespace

// Holds the mutex. The driving caller lets an Entry take it between two turns.
class Driver::Entry {
 public:
  explicit Entry(Driver* driver) : driver_(driver) {
    driver->asking_++;
    lock_ = Lock(driver->mutex_);
    driver->asking_--;
    driver->madeWay_.notify_one();
  }
  Lock& lock() { return lock_; }

 protected:
  Driver* const driver_;

 private:
  Lock lock_;
};

// A caller that may wait and drive.
class Driver::Call : public Entry {
 public:
  explicit Call(Driver* driver) : Entry(driver) { driver->callers_++; }
  ~Call() {
    driver_->callers_--;
    driver_->lastCall_ = steadyNow();
    if (driver_->callers_ == 0) {
      driver_->serveFrom(driver_->lastCall_);
    }
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

// A caller's op. The destructor ends it if leave() has not.
class Driver::Inside {
 public:
  Inside(Session* session, const OpId& id) : session_(session), id_(id) {}
  ~Inside() {
    if (session_ != nullptr) {
      (void)leave();
    }
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  OpReport leave() {
    Session* const session = std::exchange(session_, nullptr);
    const TimePoint now = steadyNow();
    if (!session->finished(id_)) {
      session->breakOff(now, "a bounded allreduce was abandoned by its caller");
    }
    return session->leave(now, id_);
  }

 private:
  Session* session_;
  const OpId id_;
};

Endpoint::Limits Driver::fit(Endpoint::Limits limits, int receiveBufferBytes) {
  limits.windowBytesMax = std::min<uint64_t>(
      limits.windowBytesMax, receiveBufferBytes / kBufferPerPayload);
  limits.windowBytesMin =
      std::min(limits.windowBytesMin, limits.windowBytesMax);
  return limits;
}

Driver::Driver(const Options& options, const Reduction& reduction)
    : socket_(options.socket),
      windowBytesWanted_(options.limits.windowBytesMax),
      limits_(fit(options.limits, socket_.receiveBufferBytes())),
      // At most half of the window is for multicast, and the kernel doubles the
      // size. So each byte of payload has four.
      multicast_(static_cast<int>(limits_.windowBytesMax)),
      endpoint_(limits_, reduction),
      sender_(&endpoint_, &socket_, options.faults),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd"),
      idle_(options.idle.inWindow(limits_.windowBytesMax)),
      overdueMax_(options.overdueMax) {
  service_ = std::make_unique<ServiceThread>(
      static_cast<ServiceThread::Client*>(this), socket_.fd(), multicast_.fd());
}

Driver::~Driver() = default;

Session* Driver::open(const Session::Setup& setup,
                      std::vector<SocketAddress> addresses,
                      const std::vector<int>& losesTrains) {
  const Entry entry(this);
  const int ranksHere = 1 + othersAt(socket_.address(), addresses);
  const int cpus =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  ranksPerCpu_ = std::max(ranksPerCpu_, (ranksHere + cpus - 1) / cpus);
  Session* const session = endpoint_.open(setup);
  try {
    if (setup.options.multicast) {
      // If this fails, ranks notice it as if multicast did not get through.
      loop_ = loop_ || ranksHere > 1;
      socket_.prepareMulticast(loop_);
      multicast_.join(session, addresses[setup.rank], socket_.address());
      wakeSleeper();
    }
    sender_.setAddresses(session, std::move(addresses), losesTrains);
  } catch (const std::exception&) {
    multicast_.leave(session);
    endpoint_.close(session);
    throw;
  }
  return session;
}

bool Driver::takesTrains(const SocketAddress& host) {
  const Entry entry(this);
  return sender_.takesTrains(host);
}

void Driver::linger(Session* session, Duration timeout) {
  Call call(this);
  driveUntil(
      call.lock(),
      [&] { return !session->lingering(); },
      steadyNow() + timeout,
      IdlePolicy{});
}

std::vector<int> Driver::neededBy(Session* session) {
  const Entry entry(this);
  return session->neededBy();
}

void Driver::close(Session* session) {
  const Entry entry(this);
  session->sendLeave(steadyNow());
  sendAll();
  const TimePoint until = steadyNow() + kLeaveMax;
  while (sender_.blocked() && steadyNow() < until) {
    socket_.wait(wake_.get(), true, kSendRetry.count());
    sendAll();
  }
  multicast_.leave(session);
  sender_.forget(session);
  endpoint_.close(session);
}

bool Driver::allreduce(Session* session,
                       uint32_t tag,
                       const OpShape& shape,
                       std::byte* bucket,
                       Duration timeout,
                       OpReport* report,
                       Failure* failure) {
  Call call(this);
  if (!session->failure().empty()) {
    failure->what = session->failure();
    session->announceFailure(steadyNow());
    return false;
  }
  timeout = session->timeoutOf(timeout);
  const OpId id = session->enter(steadyNow(), tag, shape, bucket, timeout);
  Inside inside(session, id);
  wakeSleeper();
  await(call.lock(),
        session,
        id,
        timeout,
        IdlePolicy::forCall(idle_, ranksPerCpu_, shape.bytes()));
  failure->what = session->failure(id);
  *report = inside.leave();
  if (failure->what.empty() && session->broken()) {
    failure->what = session->failure();
  }
  tellIfBufferIsSmall();
  // Other ranks may wait for these datagrams. Do not leave them to the next
  // caller.
  sendAll();
  if (!failure->what.empty()) {
    // Other calls of the session fail, too. One of them may drive and be
    // asleep.
    callReady();
    wakeSleeper();
  }
  return failure->what.empty();
}

// Waits until the op is finished. The session finishes it by the bound or the
// timeout. If the session does not, it is broken off.
void Driver::await(Lock& lock,
                   Session* session,
                   const OpId& id,
                   Duration timeout,
                   const IdlePolicy& idle) {
  const auto finished = [&] { return session->finished(id); };
  if (driveUntil(lock, finished, steadyNow() + timeout + overdueMax_, idle)) {
    return;
  }
  TimePoint now{};
  work(&now);  // the process may have been stopped
  endpoint_.deadlinePassed(now);
  if (!finished()) {
    session->breakOff(
        now,
        "a bounded allreduce outlived its timeout: that is a bug in "
        "gloo_ubt, please report it");
  }
}

void Driver::peerClosed(Session* session, int rank, const std::string& why) {
  const Entry entry(this);
  // First read the rank's last packets: they are nearer the cause.
  TimePoint now{};
  for (int turn = 0; turn < kTurnsPerService && work(&now); turn++) {
  }
  session->peerClosed(steadyNow(), rank, why);
  callReady();
  wakeSleeper();
}

Counters Driver::counters() {
  const Entry entry(this);
  return endpoint_.shared().counters;
}

TimePoint Driver::nextDeadline() const {
  return std::min(endpoint_.nextDeadline(), sender_.nextDeadline());
}

// Receives one train from each socket. Each train needs a time of its own, read
// after it came: this thread may have lost the CPU meanwhile.
bool Driver::receive() {
  const auto take = [&](TimePoint now,
                        const std::byte* datagram,
                        size_t size,
                        bool congested) {
    noteOverflows();
    if (probes_.take(datagram, size)) {
      endpoint_.shared().counters.add(Counter::kPathProbe);
    } else {
      endpoint_.packetIn(now, datagram, size, congested);
    }
  };
  const bool alone = socket_.receive(take);
  return multicast_.receive(take) || alone;
}

void Driver::noteOverflows() {
  if (const uint32_t more = socket_.overflows() - overflows_; more > 0) {
    endpoint_.overflowed(more);
    overflows_ += more;
  }
  // The window learns of lost multicast from its numbers. But the window's
  // maximum follows the buffer of the unicast socket alone.
  if (const uint32_t more = multicast_.overflows() - multicastOverflows_;
      more > 0) {
    endpoint_.shared().counters.add(Counter::kOverflowed, more);
    multicastOverflows_ += more;
  }
}

// Once: the receive buffer limits the window, and links idle.
void Driver::tellIfBufferIsSmall() {
  if (toldBuffer_ || windowBytesWanted_ <= limits_.windowBytesMax) {
    return;
  }
  const uint64_t need = endpoint_.shared().window.need();
  if (need <= limits_.windowBytesMax) {
    return;
  }
  toldBuffer_ = true;
  // The kernel doubles the size that a process asks for.
  const uint64_t size = need * kBufferPerPayload / 2;
  socket_.warn(
      "the receive buffer of a socket limits bounded allreduces: it "
      "holds " +
      std::to_string(limits_.windowBytesMax) +
      " bytes of data, but the network needs " + std::to_string(need) +
      "; raise its limit as root: sysctl -w net.core.rmem_max=" +
      std::to_string(size));
}

// One turn: receives, lets deadlines pass once the socket is drained, and
// sends. True if there is more to do now: the turn was cut short.
bool Driver::work(TimePoint* now) {
  bool drained = false;
  int received = 0;
  while (!drained && received < kReceivesPerTurn) {
    // If receive() finds nothing, all that came before this time has been
    // taken.
    *now = steadyNow();
    drained = !receive();
    received += !drained;
  }
  if (received > 0) {
    received_ = *now;
  }
  if (drained) {
    endpoint_.drained(*now);
  }
  if (endpoint_.nextDeadline() <=
      *now - (drained ? Duration{0} : kOverdueMax)) {
    endpoint_.deadlinePassed(*now);
  }
  const bool more = send(received > 0 ? steadyNow() : *now);
  return more || !drained;
}

// One turn of sending. True if there may be more to send now.
bool Driver::send(TimePoint now) {
  try {
    return sender_.send(now, kTrainsPerTurn);
  } catch (const std::exception&) {
    // The protocol recovers from this as from a loss on the network.
    endpoint_.shared().counters.add(Counter::kSendFailed);
    return false;
  }
}

void Driver::sendAll() {
  for (int turn = 0; turn < kTurnsToSendAll && send(steadyNow()); turn++) {
  }
}

// Waits or drives until `ready`. False if the deadline came first.
bool Driver::driveUntil(Lock& lock,
                        const std::function<bool()>& ready,
                        TimePoint deadline,
                        const IdlePolicy& idle) {
  // A thread that leaves, even by an exception, wakes a waiter if no thread
  // drives. That waiter may be ready and leave, too; then it wakes the next
  // one.
  struct HandOver {
    ~HandOver() {
      if (!driver->driving_ && !driver->waiters_.empty()) {
        driver->waiters_.front()->wake.notify_one();
      }
    }
    Driver* const driver;
  } const handOver{this};
  Waiter self{ready, idle, {}};
  std::list<Waiter*> place{&self};
  while (!ready() && steadyNow() < deadline) {
    if (driving_) {
      waitForDriver(lock, &place, deadline);
    } else {
      drive(lock, self, deadline);
    }
  }
  return ready();
}

// `place` holds this caller's entry. Moving it into waiters_ allocates nothing.
void Driver::waitForDriver(Lock& lock,
                           std::list<Waiter*>* place,
                           TimePoint deadline) {
  Waiter* const self = place->front();
  waiters_.splice(waiters_.end(), *place);
  const auto at = std::prev(waiters_.end());
  self->wake.wait_until(
      lock, std::chrono::steady_clock::time_point(deadline.time_since_epoch()));
  place->splice(place->end(), waiters_, at);
  if (self->called) {
    self->called = false;
    asking_--;
    madeWay_.notify_one();
  }
}

void Driver::drive(Lock& lock, const Waiter& self, TimePoint deadline) {
  struct Driving {  // ends even on an exception
    explicit Driving(bool* on) : on_(on) { *on_ = true; }
    ~Driving() { *on_ = false; }
    bool* const on_;
  } driving(&driving_);
  TimePoint now{};
  looked_ = steadyNow();
  received_ = looked_;
  while (!self.ready() && steadyNow() < deadline) {
    const bool more = work(&now);
    // A deadline might have waited for as long as this turn took.
    notLooked(now, now - looked_);
    looked_ = now;
    callReady();
    if (more) {
      makeWay(lock);
    } else if (!self.ready() && now - received_ < self.idle.yield &&
               !sender_.blocked()) {
      yield(lock, now);
    } else if (!self.ready()) {
      sleep(lock, now, deadline, self.idle.nap);
    }
  }
}

void Driver::yield(Lock& lock, TimePoint now) {
  lock.unlock();
  sched_yield();
  lock.lock();
  resumed(now);
}

// Sleeps until a datagram, room in the socket, a deadline or another caller
// comes. Datagrams do not wake it in the first `napMax`.
void Driver::sleep(Lock& lock,
                   TimePoint now,
                   TimePoint deadline,
                   Duration napMax) {
  const bool blocked = sender_.blocked();
  // Datagrams that wait for room stay overdue until there is room.
  const TimePoint due = nextDeadline();
  // A deadline that is past already is not noticed late.
  const TimePoint timer =
      blocked && due <= now ? now + kSendRetry : std::max(due, now);
  const TimePoint until = std::min(timer, deadline);
  const Duration left = std::max(until - now, Duration{0});
  const Duration napping = blocked ? Duration{0} : std::min(left, napMax);
  const int multicastFd = multicast_.any() ? multicast_.fd() : -1;
  sleeping_ = true;
  lock.unlock();
  if (napping > Duration{0}) {
    nap(wake_.get(), napping);
  }
  socket_.wait(wake_.get(),
               blocked,
               until == kNever ? -1 : (left - napping).count(),
               multicastFd);
  lock.lock();
  sleeping_ = false;
  resumed(timer);
  if (woken_) {
    woken_ = false;
    uint64_t wakes;
    (void)!read(wake_.get(), &wakes, sizeof(wakes));
  }
}

// This thread runs again; it wanted to run at `wanted`.
void Driver::resumed(TimePoint wanted) {
  looked_ = steadyNow();
  if (looked_ > wanted) {
    notLooked(looked_, looked_ - wanted);
  }
}

// This thread has not looked for packets and deadlines for `time`.
void Driver::notLooked(TimePoint now, Duration time) {
  endpoint_.shared().lateness.sample(now, time);
  endpoint_.shared().noticeDelay.sample(time);
}

// Tells a driving caller that sleeps in poll that something has changed.
void Driver::wakeSleeper() {
  if (sleeping_ && !woken_) {
    woken_ = true;
    const uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof(one));
  }
}

void Driver::callReady() {
  for (Waiter* waiter : waiters_) {
    if (!waiter->called && waiter->ready()) {
      waiter->called = true;
      asking_++;
      waiter->wake.notify_one();
    }
  }
}

// Lets threads that ask for the mutex take it. A mutex is not fair: without the
// wait, this thread would take it back before they have woken.
void Driver::makeWay(Lock& lock) {
  if (asking_ > 0) {
    madeWay_.wait_for(lock, kMakeWayMax, [this] { return asking_ == 0; });
  }
}

// No caller is inside any more. REQUIRES the mutex.
void Driver::serveFrom(TimePoint now) {
  const bool overdue = sender_.blocked() || nextDeadline() <= now;
  const TimePoint at = overdue ? now : now + ServiceThread::kPeriod;
  if (serviceLooks_ < now || serviceLooks_ > at + ServiceThread::kPeriod) {
    serviceLooks_ = at;
    service_->lookBy(at);
  }
}

bool Driver::look(ServiceThread* thread) {
  // Callers serve the sockets. They should not have to wait for this thread.
  // The last one that leaves calls serveFrom().
  if (callers_ > 0) {
    return false;
  }
  const Entry entry(this);
  TimePoint now = steadyNow();
  bool busy = true;
  for (int turn = 0; busy && asking_ == 0 && turn < kTurnsPerService; turn++) {
    busy = work(&now);
  }
  const TimePoint due = busy                ? now
                        : sender_.blocked() ? now + kSendRetry
                                            : nextDeadline();
  const bool alone = now - lastCall_ >= ServiceThread::kPeriod;
  serviceLooks_ = alone ? due : std::min(due, now + ServiceThread::kPeriod);
  thread->lookBy(serviceLooks_);
  return alone;
}

}  // namespace ubt
