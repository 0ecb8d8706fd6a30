// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/private_network.h"
#include "transport_ubt/io/socket_address.h"

namespace test {

// Two networks joined by a link with an MTU of 9,000 bytes: rank 0 in one,
// ranks 1 and 2 in the other. The ends of the link are called "here" and
// "there". Use from one thread at a time.
class TwoHosts {
 public:
  static constexpr int kRanks = 3;
  static constexpr int kMtuBytes = 9000;

  // Throws std::runtime_error if the networks cannot be created (see
  // PrivateNetwork::possible()).
  TwoHosts();

  const PrivateNetwork& here() const { return here_; }
  const PrivateNetwork& there() const { return there_; }
  const PrivateNetwork& of(int rank) const {
    return rank == 0 ? here_ : there_;
  }
  // 10.0.0.1 for rank 0, and so on, without a port.
  static ubt::SocketAddress addressOf(int rank);

 private:
  PrivateNetwork here_;
  PrivateNetwork there_;
};

}  // namespace test
