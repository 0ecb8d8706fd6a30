// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport_ubt/bounded/mesh.h"
#include "transport_ubt/bounded/mesh_deadline.h"
#include "transport_ubt/bounded/mesh_swap.h"
#include "transport_ubt/core/wire/packet_auth.h"
#include "transport_ubt/io/driver.h"
#include "transport_ubt/io/path_probes.h"

namespace gloo {
namespace transport {
namespace ubt {

// How the ranks of a context agree on the largest slot that every path between
// two of them carries. Each rank sends probes as long as full datagrams, which
// no host may cut, and shorter ones where those do not arrive. Then all tell
// all what has arrived. Paths on which nothing has say nothing about a size:
// UDP is blocked there, and the ranks at both ends get a warning.
class PathAgreement {
 public:
  struct Setup {
    uint64_t epoch = 0;
    std::vector<::ubt::PeerKeys> keys;            // by rank
    std::vector<::ubt::SocketAddress> addresses;  // by rank; the own is unused
    size_t slotBytes = 0;                         // the largest wished
    size_t aroundBytes = 0;  // of a datagram, beside its slot
    // The context's. Paths on which nothing arrives take a quarter of it at
    // most.
    std::chrono::milliseconds timeout = std::chrono::seconds(30);
  };
  struct Agreed {
    size_t slotBytes = 0;  // the same on all ranks
    // What users should know of paths that begin or end here.
    std::vector<std::string> warnings;
  };

  // Ranks that hear each other have done so by then, unless their hosts are
  // very busy: then full datagrams are given up, or, much later, any.
  static constexpr std::chrono::milliseconds kFullPatience{1000};
  static constexpr std::chrono::milliseconds kAnyPatience{3000};

  // `driver` and what is behind `mesh` must outlive this, and this must live as
  // long as the mesh if run() throws (MeshSwap).
  PathAgreement(const Mesh& mesh, ::ubt::Driver* driver, Setup setup);
  ~PathAgreement();

  // All ranks of the mesh have to, and wait for each other. Throws as
  // MeshSwap::run() does; after MeshSwap::TimedOut it may go on with another
  // run(). One thread at a time.
  Agreed run(std::chrono::milliseconds timeout);

 private:
  class Prober;

  void awaitProbes(const MeshDeadline& deadline);
  std::vector<uint32_t> candidates() const;
  Agreed agreed(const std::vector<std::vector<uint32_t>>& arrived) const;
  std::string nameOf(int rank) const;

  const Mesh mesh_;
  ::ubt::Driver* const driver_;
  const Setup setup_;
  ::ubt::PathProbes::Listener listener_;
  MeshSwap ready_;
  std::unique_ptr<Prober> prober_;  // once all listen,
  std::chrono::steady_clock::time_point probingSince_{};
  std::unique_ptr<MeshSwap> findings_;  // and once there are some
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
