// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/rank_place.h"

namespace ubt {

std::string RankPlace::whyUnreachable(const RankPlace& peer, int rank) const {
  const bool own = address.isLoopback();
  if (host == peer.host || (!own && !peer.address.isLoopback())) {
    return "";
  }
  return "rank " + std::to_string(rank) + " is on another host, and " +
         (own ? "this rank's address, " + address.str()
              : "its address, " + peer.address.str()) +
         ", is a loopback address. Name an interface that other hosts reach "
         "(attr::iface, --tcp-device, GLOO_SOCKET_IFNAME or --interface)";
}

}  // namespace ubt
