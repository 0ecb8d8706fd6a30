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

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/io/socket_address.h"
#include "transport_ubt/io/steady_now.h"

namespace ubt {

// A bound, non-blocking UDP socket that hands whole trains of datagrams to
// the kernel (UDP_SEGMENT) and takes them from it (UDP_GRO), where kernel and
// interface can; one datagram a call where they cannot. One thread at a time
// may send, one receive.
class UdpSocket {
 public:
  struct Options {
    SocketAddress address;  // the port is ignored
    uint16_t portLow = 0;   // 0: any free port
    uint16_t portHigh = 0;  // inclusive
    int receiveBufferBytes = 4 << 20;
    bool segmentation = true;  // false: never use UDP_SEGMENT
    // Set: `address` is a group, to be joined on the interface that has this
    // one; the socket takes what goes to the group's port, as may others.
    std::optional<SocketAddress> joinAt;
    // Told of what a user should know. By the thread that sends; may be empty.
    std::function<void(const std::string&)> warn;
  };

  // What one call may carry: the kernel's limits.
  static constexpr size_t kTrainBytesMax = 65507;
  static constexpr size_t kTrainSegmentsMax = 64;

  enum class Sent : uint8_t {
    kYes,
    kFull,     // try again when writable
    kRefused,  // the path or its interface takes no such train or datagram
    kFailed,
  };

  // Throws std::system_error, or std::runtime_error with a remedy, if no
  // socket can be bound.
  explicit UdpSocket(const Options& options);
  ~UdpSocket();
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  int fd() const { return fd_; }
  const SocketAddress& address() const { return address_; }
  // As the kernel accounts for it, which is more than the payload it holds.
  int receiveBufferBytes() const { return receiveBufferBytes_; }
  // Smallest MTU of the interface that holds the address. Bytes.
  int mtu() const { return mtu_; }
  // Whether trains may be sent at all; a path may refuse them all the same.
  bool segmentation() const { return segmentation_; }
  void warn(const std::string& warning) const {
    if (warn_ != nullptr) {
      warn_(warning);
    }
  }

  // Has what is sent to a group leave by the interface of this socket's
  // address, for no further than its own link, and with `loop` for this host,
  // too. False if that cannot be.
  bool prepareMulticast(bool loop);

  // Sends a train of datagrams of `segmentBytes` each (the last may be
  // shorter), gathered from `pieces`. Without `train` they are one datagram,
  // whatever `segmentBytes` is. If it was refused or failed, errno says why.
  Sent send(const SocketAddress& to,
            const iovec* pieces,
            size_t count,
            size_t segmentBytes,
            bool train);
  // Sends one datagram, in fragments where the path has no room for it whole.
  Sent sendInFragments(const SocketAddress& to,
                       const iovec* pieces,
                       size_t count);
  // Sends one datagram whole or not at all. By any thread. False if it did not
  // leave this host.
  bool sendWhole(const SocketAddress& to,
                 const std::byte* datagram,
                 size_t bytes) const;

  // Takes one train if there is one and calls
  // take(TimePoint, const std::byte*, size_t) for each datagram in it, with a
  // time at which all were there. False if there was none.
  template <typename Take>
  bool receive(Take&& take) {
    size_t trainBytes = 0;
    size_t segmentBytes = 0;
    if (!receiveTrain(&trainBytes, &segmentBytes)) {
      return false;
    }
    const TimePoint now = steadyNow();
    size_t at = 0;
    do {  // an empty datagram is one, too
      take(now, staging_.get() + at, std::min(segmentBytes, trainBytes - at));
      at += segmentBytes;
    } while (at < trainBytes);
    return true;
  }

  // How much may wait for the link before the socket says it is full, as the
  // kernel accounts for it; a train more does.
  void setBacklog(size_t bytes);
  // Whether less waits. A send that finds no room costs as much as one that
  // does.
  bool writable() const;
  // Whether nothing does.
  bool sentAll() const;

  // Waits until there is something to receive (or, if `writable`, room to
  // send), `wakeFd` or `otherFd` is readable or the time is up; with negative
  // nanoseconds, for ever. A descriptor may be -1: none.
  void wait(int wakeFd,
            bool writable,
            int64_t nanoseconds,
            int otherFd = -1) const;

 private:
  // False if there is none. REQUIRES both pointers.
  bool receiveTrain(size_t* trainBytes, size_t* segmentBytes);

  // Who cuts packets that the path has no room for.
  enum class Cut : uint8_t { kSender, kAnybody, kNobody };
  // While one thread has it otherwise than kSender, it holds cutting_.
  void setCut(Cut cut) const;

  const std::function<void(const std::string&)> warn_;
  mutable std::mutex cutting_;
  int fd_ = -1;
  SocketAddress address_;
  int receiveBufferBytes_ = 0;
  int mtu_ = 0;
  bool segmentation_ = false;
  std::unique_ptr<std::byte[]> staging_;  // stays hot in the cache
};

}  // namespace ubt
