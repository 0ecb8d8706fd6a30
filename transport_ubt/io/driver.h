// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "transport_ubt/core/session/endpoint.h"
#include "transport_ubt/io/group_sockets.h"
#include "transport_ubt/io/idle_policy.h"
#include "transport_ubt/io/packet_sender.h"
#include "transport_ubt/io/path_probes.h"
#include "transport_ubt/io/service_thread.h"
#include "transport_ubt/io/udp_socket.h"

namespace ubt {

// Runs an endpoint on a real socket. Whoever waits drives: a caller inside an
// allreduce polls the socket itself; the service thread does only while no
// caller is inside (docs/threading.md). A caller that drives makes way, between
// two turns, for other threads. All methods may be called from any thread.
class Driver : private ServiceThread::Client {
 public:
  struct Options {
    UdpSocket::Options socket;
    Endpoint::Limits limits;  // windowBytesMax is cut to what the socket holds
    FaultOptions faults;
    IdlePolicy idle;  // as configured, whatever the host
    // A call that outlives its timeout by more ends all the same, and its
    // session with it: that is a bug here.
    Duration overdueMax = std::chrono::seconds(1);
  };

  // An op that cannot yield a result; `what` names the rank and the remedy.
  struct Failure {
    std::string what;
  };

  // Throws as UdpSocket's constructor does.
  Driver(const Options& options, const Reduction& reduction);
  ~Driver() override;

  const UdpSocket& socket() const { return socket_; }
  // Those that come in on it.
  PathProbes& probes() { return probes_; }
  // What this rank tells the others of its receive window. Bytes.
  uint64_t windowBytes() const { return limits_.windowBytesMax; }

  // `addresses` by rank; the own entry is the group's, if multicast is on.
  Session* open(const Session::Setup& setup,
                std::vector<SocketAddress> addresses);

  // Serves what peers may still need of the session, for `patience` at most.
  void linger(Session* session, Duration patience);
  // The ranks that may still need something of it; empty once none does.
  std::vector<int> neededBy(Session* session);
  // Ends the session. REQUIRES no call inside it, now or later.
  void close(Session* session);

  // One allreduce, in place. True: `report` says what became of it. False:
  // `failure` says why there is no result. Returns by the op's bound, or by
  // `timeout` while warming up or waiting before its op; zero: that of the
  // session's options. Whatever happens, also if it throws for lack of memory,
  // the bucket is the caller's again.
  bool allreduce(Session* session,
                 uint32_t tag,
                 const OpShape& shape,
                 std::byte* bucket,
                 Duration timeout,
                 OpReport* report,
                 Failure* failure);

  // The mesh says a rank of the session is gone; ends every wait for it.
  void peerClosed(Session* session, int rank, const std::string& why);

  // A snapshot.
  Counters counters();

 private:
  // A thread that waits while another one drives.
  struct Waiter {
    std::function<bool()> ready;
    IdlePolicy idle;  // while it drives itself
    std::condition_variable wake;
    bool called = false;  // its wait is over; it asks for the mutex
  };
  using Lock = std::unique_lock<std::mutex>;
  class Entry;
  class Call;
  class Inside;

  void await(Lock& lock,
             Session* session,
             const OpId& id,
             Duration timeout,
             const IdlePolicy& idle);
  bool driveUntil(Lock& lock,
                  const std::function<bool()>& ready,
                  TimePoint deadline,
                  const IdlePolicy& idle);
  void drive(Lock& lock, const Waiter& self, TimePoint deadline);
  void waitForDriver(Lock& lock, std::list<Waiter*>* self, TimePoint deadline);
  bool receive();
  bool work(TimePoint* now);
  bool send(TimePoint now);
  void sendAll();
  void yield(Lock& lock, TimePoint now);
  void sleep(Lock& lock, TimePoint now, TimePoint deadline, Duration napMax);
  void resumed(TimePoint wanted);
  void wakeSleeper();
  void callReady();
  void makeWay(Lock& lock);
  TimePoint nextDeadline() const;

  ServiceThread::Next look() override;  // ServiceThread::Client

  static Endpoint::Limits fit(Endpoint::Limits limits, int receiveBufferBytes);

  std::mutex mutex_;
  // Threads that are about to take the mutex while another may hold it for
  // long. Counted up without the mutex, down with it.
  std::atomic<int> asking_{0};
  std::condition_variable madeWay_;
  UdpSocket socket_;
  PathProbes probes_;
  GroupSockets groups_;
  bool loop_ = false;  // multicast reaches this host, too
  const Endpoint::Limits limits_;
  Endpoint endpoint_;
  PacketSender sender_;
  int wakeFd_ = -1;
  const IdlePolicy idle_;
  const Duration overdueMax_;
  int ranksPerCpu_ = 1;    // of the context that has most
  bool driving_ = false;   // some caller polls the socket
  bool sleeping_ = false;  // and is blocked in it, the mutex free
  TimePoint looked_{};     // when the driving caller last looked at the clock
  std::atomic<int> callers_{0};  // changes under the mutex
  TimePoint lastCall_{};         // when the last caller left
  TimePoint serviceLooks_{};     // when the service thread looks next
  std::list<Waiter*> waiters_;
  std::unique_ptr<ServiceThread> service_;  // last: it uses all the others
};

}  // namespace ubt
