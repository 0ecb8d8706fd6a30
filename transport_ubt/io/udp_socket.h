// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/io/descriptor.h"
#include "transport_ubt/io/socket_address.h"
#include "transport_ubt/io/steady_now.h"

namespace ubt {

// A bound, non-blocking UDP socket. It sends and receives whole trains of
// datagrams (UDP_SEGMENT, UDP_GRO) if the kernel and the interface can do so,
// and otherwise one datagram a call. Datagrams ask the network to mark them
// where queues are long, in place of dropping them (ECN). One thread at a time
// may send, and one receive.
class UdpSocket {
 public:
  struct Options {
    SocketAddress address;  // the port is ignored
    uint16_t portLow = 0;   // 0: any free port
    uint16_t portHigh = 0;  // inclusive
    // A window of this size, at most, fits (Driver::windowBytes()).
    int receiveBufferBytes = 16 << 20;
    bool segmentation = true;  // false: never use UDP_SEGMENT
    // If set, `address` is a multicast address, which the socket joins on the
    // interface that has `joinAt`. Other sockets may share its port.
    std::optional<SocketAddress> joinAt;
    // Gets warnings for the user, on the sending thread. May be empty.
    std::function<void(const std::string&)> warn;
  };

  // The kernel's limits for one call.
  static constexpr size_t kTrainBytesMax = 65507;
  static constexpr size_t kTrainSegmentsMax = 64;

  enum class Sent : uint8_t {
    kYes,
    kFull,     // try again when writable
    kRefused,  // the path or its interface cannot take it
    kFailed,
  };

  // Throws std::system_error, or std::runtime_error with a remedy, if no
  // socket can be bound.
  explicit UdpSocket(const Options& options);
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  int fd() const { return descriptor_.get(); }
  const SocketAddress& address() const { return address_; }
  // In the kernel's accounting: fewer bytes of payload fit.
  int receiveBufferBytes() const { return receiveBufferBytes_; }
  // The MTU of the interface that has the address, in bytes; 1280 if unknown.
  int mtu() const { return mtu_; }
  // Whether trains may be sent. A path may still refuse them.
  bool segmentation() const { return segmentation_; }
  void warn(const std::string& warning) const {
    if (warn_ != nullptr) {
      warn_(warning);
    }
  }

  // Makes multicast leave by the interface of this socket's address and stay on
  // that link. With `loop` this host gets it, too. False if that fails.
  bool prepareMulticast(bool loop);

  // Sends a train of datagrams of `segmentBytes` each (the last may be
  // shorter), gathered from `pieces`. Without `train` sends one datagram and
  // ignores `segmentBytes`. If it was refused or failed, errno says why.
  Sent send(const SocketAddress& to,
            const iovec* pieces,
            size_t count,
            size_t segmentBytes,
            bool train) const;
  // Sends one datagram, in fragments if it exceeds the path MTU.
  Sent sendInFragments(const SocketAddress& to,
                       const iovec* pieces,
                       size_t count);
  // Sends datagrams of one size whole or not at all, several as one train. Any
  // thread may call. False if nothing left this host. REQUIRES: for a train,
  // segmentation(), and no more than the kernel's limits.
  bool sendWhole(const SocketAddress& to,
                 const std::vector<std::vector<std::byte>>& datagrams) const;

  // Receives one train and calls
  //     take(TimePoint, const std::byte*, size_t bytes, bool congested)
  // for each of its datagrams. All had arrived at that time. `congested`: the
  // network has marked the train. False if there was no train.
  template <typename Take>
  bool receive(Take&& take) {
    Train train;
    if (!receiveTrain(&train)) {
      return false;
    }
    const TimePoint now = steadyNow();
    size_t at = 0;
    do {  // an empty datagram counts, too
      take(now,
           staging_.get() + at,
           std::min(train.segmentBytes, train.bytes - at),
           train.congested);
      at += train.segmentBytes;
    } while (at < train.bytes);
    return true;
  }

  // How often the receive buffer was full, and a datagram or train was dropped.
  // Known once something arrives after it.
  uint32_t overflows() const { return overflows_; }

  // Sets how many bytes, in the kernel's accounting, may wait for the link
  // before the socket is full. One train more may wait.
  void setBacklog(size_t bytes);
  // How many bytes wait for the link, in the kernel's accounting. Ask before a
  // send, because a send that finds no room costs as much as one that succeeds.
  size_t waitingBytes() const;

  // Waits until the socket, `wakeFd` or `otherFd` is readable, or (if
  // `writable`) the socket has room, or the time is up. Negative nanoseconds
  // mean no time limit. A descriptor of -1 is ignored.
  void wait(int wakeFd,
            bool writable,
            int64_t nanoseconds,
            int otherFd = -1) const;

 private:
  struct Train {
    size_t bytes = 0;
    size_t segmentBytes = 0;
    bool congested = false;
  };
  // Receives one into staging_. False if there is none.
  bool receiveTrain(Train* train);

  // Who fragments datagrams that exceed the path MTU.
  enum class Cut : uint8_t { kSender, kAnybody, kNobody };
  // A thread that sets anything but kSender holds cutting_ until it sets
  // kSender.
  void setCut(Cut cut) const;

  const std::function<void(const std::string&)> warn_;
  mutable std::mutex cutting_;
  const Descriptor descriptor_;
  SocketAddress address_;
  int receiveBufferBytes_ = 0;
  int mtu_ = 0;
  bool segmentation_ = false;
  uint32_t overflows_ = 0;
  std::unique_ptr<std::byte[]> staging_;  // reused, so it stays in the cache
};

}  // namespace ubt
