// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace ubt {

// The rank whose turn it is to be sent to, and the state of that turn. The turn
// of the own rank is for multicast. In a turn a burst of data leaves, up to a
// train, and then control, so that both can travel together. Not thread-safe.
class SendTurns {
 public:
  explicit SendTurns(int ranks) : ranks_(ranks) {}

  int rank() const { return rank_; }
  void next() { start((rank_ + 1) % ranks_); }
  // The turn of that rank begins.
  void start(int rank) {
    rank_ = rank;
    begun_ = controlOnly_ = false;
    bytes_ = 0;
  }

  // Whether this turn has sent a datagram, or found that there is none.
  bool begun() const { return begun_; }
  // Whether only control goes out in the rest of this turn.
  bool controlOnly() const { return controlOnly_; }
  // Bytes of data in this turn.
  size_t dataBytes() const { return bytes_; }
  void sentData(size_t bytes) {
    begun_ = true;
    bytes_ += bytes;
  }
  // At the moment there is no further data.
  void dataIsOver() { begun_ = true; }
  void turnToControl() { begun_ = controlOnly_ = true; }

 private:
  const int ranks_;
  int rank_ = 0;
  size_t bytes_ = 0;
  bool begun_ = false;
  bool controlOnly_ = false;
};

}  // namespace ubt
