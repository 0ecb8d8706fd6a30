// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/driver.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ubt {
namespace {

// Work between two looks at the clock.
constexpr int kReceivesPerTurn = 16;
constexpr int kTrainsPerTurn = 4;
// The service thread gives the mutex back after this many turns.
constexpr int kTurnsPerService = 8;
// A kernel buffer holds headers and slack beside the payload.
constexpr uint64_t kBufferPerPayload = 2;

}  // namespace

TimePoint Driver::clock() {
  return TimePoint(std::chrono::steady_clock::now().time_since_epoch());
}

Endpoint::Limits Driver::fit(Endpoint::Limits limits, int receiveBufferBytes) {
  limits.windowBytesMax = std::min<uint64_t>(
      limits.windowBytesMax, receiveBufferBytes / kBufferPerPayload);
  limits.windowBytesMin =
      std::min(limits.windowBytesMin, limits.windowBytesMax);
  return limits;
}

Driver::Driver(const Options& options, const Reduction& reduction)
    : socket_(options.socket),
      limits_(fit(options.limits, socket_.receiveBufferBytes())),
      endpoint_(limits_, reduction),
      sender_(&endpoint_, &socket_, options.faults),
      wakeFd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (wakeFd_ < 0) {
    throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  service_ = std::make_unique<ServiceThread>(
      static_cast<ServiceThread::Client*>(this), socket_.fd());
}

Driver::~Driver() {
  service_.reset();
  ::close(wakeFd_);
}

Session* Driver::open(const Session::Setup& setup,
                      std::vector<SocketAddress> addresses) {
  Lock lock(mutex_);
  Session* const session = endpoint_.open(setup);
  sender_.setAddresses(session, std::move(addresses));
  return session;
}

void Driver::linger(Session* session, Duration patience) {
  Lock lock(mutex_);
  callers_++;
  calls_++;
  driveUntil(
      lock, [&] { return !session->lingering(); }, clock() + patience);
  callers_--;
}

void Driver::close(Session* session) {
  Lock lock(mutex_);
  session->sendLeave();
  sender_.send(clock(), 2 * session->size());
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
  Lock lock(mutex_);
  callers_++;
  calls_++;
  const TimePoint deadline = clock() + timeout;
  bool result = false;
  driveUntil(
      lock,
      [&] { return session->mayEnter() || !session->failure().empty(); },
      deadline);
  if (!session->failure().empty()) {
    failure->what = session->failure();
  } else if (!session->mayEnter()) {
    failure->what = session->giveUp();
  } else {
    const OpId id = session->enter(clock(), tag, shape, bucket, timeout);
    wakeSleeper();
    // The op ends itself, by its bound or its own timeout.
    driveUntil(
        lock, [&] { return session->finished(id); }, kNever);
    failure->what = session->failure(id);
    *report = session->leave(clock(), id);
    result = failure->what.empty();
  }
  callers_--;
  return result;
}

void Driver::peerClosed(Session* session, int rank, const std::string& why) {
  Lock lock(mutex_);
  // What it said before it went is nearer the cause.
  TimePoint now{};
  for (int turn = 0; turn < kTurnsPerService && work(&now); turn++) {
  }
  session->peerClosed(rank, why);
  notifyReady();
  wakeSleeper();
}

Counters Driver::counters() {
  Lock lock(mutex_);
  return endpoint_.shared().counters;
}

// One turn: takes what has come, lets deadlines pass only once the socket is
// drained, sends. True if there may be more to do at once.
bool Driver::work(TimePoint* now) {
  *now = clock();
  bool drained = false;
  int received = 0;
  while (!drained && received < kReceivesPerTurn) {
    drained = !socket_.receive([&](const std::byte* datagram, size_t bytes) {
      endpoint_.packetIn(*now, datagram, bytes);
    });
    received += !drained;
  }
  if (received > 0) {
    *now = clock();
  }
  if (drained && endpoint_.nextDeadline() <= *now) {
    endpoint_.deadlinePassed(*now);
  }
  const bool sent = sender_.send(*now, kTrainsPerTurn);
  return received > 0 || sent;
}

bool Driver::driveUntil(Lock& lock,
                        const std::function<bool()>& ready,
                        TimePoint deadline) {
  Waiter self{ready, {}};
  TimePoint now{};
  while (!ready()) {
    if (driving_) {
      const auto place = waiters_.insert(waiters_.end(), &self);
      if (deadline == kNever) {
        self.wake.wait(lock);
      } else {
        self.wake.wait_until(
            lock,
            std::chrono::steady_clock::time_point(deadline.time_since_epoch()));
      }
      waiters_.erase(place);
      if (clock() >= deadline) {
        break;
      }
      continue;
    }
    driving_ = true;
    looked_ = clock();
    while (!ready() && clock() < deadline) {
      const bool busy = work(&now);
      // Whatever kept this turn long would have kept a deadline waiting.
      endpoint_.shared().lateness.sample(now, now - looked_);
      looked_ = now;
      notifyReady();
      if (!busy && !ready()) {
        sleep(lock, now, deadline);
      }
    }
    driving_ = false;
    break;
  }
  // Whoever leaves sees to it that somebody drives: who was asked to may find
  // itself ready, and leave, too.
  if (!driving_ && !waiters_.empty()) {
    waiters_.front()->wake.notify_one();
  }
  return ready();
}

// Blocks until a datagram, a deadline or another caller comes.
void Driver::sleep(Lock& lock, TimePoint now, TimePoint deadline) {
  const TimePoint timer =
      std::min(endpoint_.nextDeadline(), sender_.nextDeadline());
  const TimePoint until = std::min(timer, deadline);
  sleeping_ = true;
  lock.unlock();
  socket_.waitReadable(
      wakeFd_,
      until == kNever ? -1 : std::max<int64_t>((until - now).count(), 0));
  lock.lock();
  sleeping_ = false;
  const TimePoint woken = clock();
  if (woken > timer) {
    endpoint_.shared().lateness.sample(woken, woken - timer);
  }
  looked_ = woken;
  uint64_t wakes;
  (void)!read(wakeFd_, &wakes, sizeof(wakes));
}

// Something changed under a caller that sleeps in poll.
void Driver::wakeSleeper() {
  if (sleeping_) {
    const uint64_t one = 1;
    (void)!write(wakeFd_, &one, sizeof(one));
  }
}

void Driver::notifyReady() {
  for (Waiter* waiter : waiters_) {
    if (waiter->ready()) {
      waiter->wake.notify_one();
    }
  }
}

bool Driver::callersInside() {
  Lock lock(mutex_);
  const bool came = calls_ != callsSeen_;
  callsSeen_ = calls_;
  return came || callers_ > 0;
}

TimePoint Driver::serve() {
  Lock lock(mutex_);
  TimePoint now{};
  for (int turn = 0; turn < kTurnsPerService; turn++) {
    if (!work(&now)) {
      return std::min(endpoint_.nextDeadline(), sender_.nextDeadline());
    }
  }
  return now;
}

}  // namespace ubt
