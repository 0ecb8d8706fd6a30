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
#include "transport_ubt/io/descriptor.h"
#include "transport_ubt/io/idle_policy.h"
#include "transport_ubt/io/multicast_sockets.h"
#include "transport_ubt/io/packet_sender.h"
#include "transport_ubt/io/path_probes.h"
#include "transport_ubt/io/service_thread.h"
#include "transport_ubt/io/udp_socket.h"

namespace ubt {

// Runs an endpoint on a real socket (docs/architecture.md, Threads). A caller
// that waits in an allreduce drives: it polls the socket itself. The service
// thread polls only while no caller is inside. Between two turns the driving
// caller lets other threads take the mutex. Any thread may call any method.
class Driver : private ServiceThread::Client {
 public:
  struct Options {
    UdpSocket::Options socket;
    Endpoint::Limits limits;  // the socket's buffer limits windowBytesMax
    FaultOptions faults;
    IdlePolicy idle;  // as configured, not yet adapted to the host
    // A call that exceeds its timeout by more than this is a bug here. It ends,
    // and its session with it.
    Duration overdueMax = std::chrono::seconds(1);
  };

  // Why an op has no result; `what` names the rank and the remedy.
  struct Failure {
    std::string what;
  };

  // Throws like UdpSocket's constructor.
  Driver(const Options& options, const Reduction& reduction);
  ~Driver() override;

  const UdpSocket& socket() const { return socket_; }
  // Whether trains may be sent to that host (PathLimits).
  bool takesTrains(const SocketAddress& host);
  // The path probes that arrive on the socket.
  PathProbes& probes() { return probes_; }
  // The receive window that this rank announces, in bytes.
  uint64_t windowBytes() const { return limits_.windowBytesMax; }

  // `addresses` is indexed by rank. With multicast, this rank's own entry is
  // the multicast address. Trains to the ranks `losesTrains` get lost. The
  // session is valid until close().
  Session* open(const Session::Setup& setup,
                std::vector<SocketAddress> addresses,
                const std::vector<int>& losesTrains = {});

  // Serves data that peers may still need from the session, for at most
  // `timeout`.
  void linger(Session* session, Duration timeout);
  // The ranks that may still need data from the session.
  std::vector<int> neededBy(Session* session);
  // Ends and frees the session. REQUIRES: no call uses it now or later.
  void close(Session* session);

  // Runs one allreduce, in place. If true, `report` describes it. If false,
  // `failure` says why there is no result. Returns by `timeout`. An op that has
  // begun with repair `none` and a bound by hand returns by that bound. A zero
  // timeout means the session's. Afterwards the caller owns the bucket again,
  // even if this throws because memory is short.
  bool allreduce(Session* session,
                 uint32_t tag,
                 const OpShape& shape,
                 std::byte* bucket,
                 Duration timeout,
                 OpReport* report,
                 Failure* failure);

  // Reports that the mesh has lost `rank`. Ends every wait for it.
  void peerClosed(Session* session, int rank, const std::string& why);

  // A snapshot.
  Counters counters();

 private:
  // A thread that waits while another one drives.
  struct Waiter {
    std::function<bool()> ready;
    IdlePolicy idle;  // for when it drives itself
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
  void noteOverflows();
  void tellIfBufferIsSmall();
  bool work(TimePoint* now);
  bool send(TimePoint now);
  void sendAll();
  void yield(Lock& lock, TimePoint now);
  void sleep(Lock& lock, TimePoint now, TimePoint deadline, Duration napMax);
  void resumed(TimePoint wanted);
  void notLooked(TimePoint now, Duration time);
  void wakeSleeper();
  void callReady();
  void makeWay(Lock& lock);
  TimePoint nextDeadline() const;

  void serveFrom(TimePoint now);
  bool look(ServiceThread* thread) override;  // ServiceThread::Client

  static Endpoint::Limits fit(Endpoint::Limits limits, int receiveBufferBytes);

  std::mutex mutex_;
  // How many threads ask for the mutex while another may hold it for long.
  // Decremented only with the mutex, incremented also without it.
  std::atomic<int> asking_{0};
  std::condition_variable madeWay_;
  UdpSocket socket_;
  PathProbes probes_;
  const uint64_t windowBytesWanted_;
  const Endpoint::Limits limits_;
  MulticastSockets multicast_;
  bool loop_ = false;  // other ranks of this host get multicast
  Endpoint endpoint_;
  PacketSender sender_;
  const Descriptor wake_;  // readable: the driving caller looks again
  const IdlePolicy idle_;
  const Duration overdueMax_;
  uint32_t overflows_ = 0;           // of socket_, as the endpoint knows them
  uint32_t multicastOverflows_ = 0;  // of multicast_, as counted
  bool toldBuffer_ = false;
  int ranksPerCpu_ = 1;    // maximum over the contexts
  bool driving_ = false;   // some caller polls the socket
  bool sleeping_ = false;  // that caller sleeps, without the mutex
  bool woken_ = false;     // wake_ is readable
  TimePoint received_{};   // when it last took a datagram, or began
  TimePoint looked_{};     // when the driving caller last looked at the clock
  std::atomic<int> callers_{0};  // changes under the mutex
  TimePoint lastCall_{};         // when the last caller left
  TimePoint serviceLooks_{};     // when the service thread looks next
  std::list<Waiter*> waiters_;
  std::unique_ptr<ServiceThread> service_;  // last member: it uses the others
};

}  // namespace ubt
