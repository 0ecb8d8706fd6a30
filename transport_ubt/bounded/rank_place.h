// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "transport_ubt/io/socket_address.h"

namespace ubt {

// Where a rank runs, and where it says that others reach it.
struct RankPlace {
  uint64_t host = 0;  // equal for ranks of one host (hostId())
  SocketAddress address;

  // Why this rank and `rank`, which is at `peer`, cannot reach each other, with
  // the remedy: they are on different hosts, and an address is a loopback
  // address. Empty if nothing is known against it.
  std::string whyUnreachable(const RankPlace& peer, int rank) const;
};

}  // namespace ubt
