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
#include "transport_ubt/core/wire/packet_crypto.h"
#include "transport_ubt/io/driver.h"
#include "transport_ubt/io/path_probes.h"

namespace ubt {

// Finds the largest slot that every path between two ranks of a context
// carries, and the paths that lose trains. Each rank sends probes as long as
// full datagrams, which no host may fragment, alone and in trains, and shorter
// ones if those do not arrive. Then all ranks exchange their results. If no
// probe arrives on a path, UDP is blocked there. Such a path does not limit the
// slot, and the ranks at both ends get a warning.
class PathAgreement {
 public:
  struct Setup {
    uint64_t epoch = 0;
    std::vector<PeerKeys> keys;            // by rank
    std::vector<SocketAddress> addresses;  // by rank; own entry unused
    size_t slotBytes = 0;                  // the largest wanted
    size_t aroundBytes = 0;                // of a datagram, without its slot
    // The context's. Waiting for a blocked path takes at most a quarter of it.
    std::chrono::milliseconds timeout = std::chrono::seconds(30);
  };
  struct Agreed {
    size_t slotBytes = 0;  // the same on all ranks
    // Ranks that single datagrams from here reach, and trains do not.
    std::vector<int> losesTrains;
    // Warnings for the user, about paths that begin or end here.
    std::vector<std::string> warnings;
  };

  // How long to wait for full datagrams and trains, and then for any. They
  // arrive earlier, unless a path loses them or hosts are very busy.
  static constexpr std::chrono::milliseconds kFullWait{1000};
  static constexpr std::chrono::milliseconds kAnyWait{3000};

  // `driver` and the objects that `mesh` uses must outlive this. If run()
  // throws, keep this as long as the mesh (MeshSwap).
  PathAgreement(const Mesh& mesh, Driver* driver, Setup setup);
  ~PathAgreement();

  // All ranks of the mesh must call it, and wait for each other. Throws like
  // MeshSwap::run(). After MeshSwap::TimedOut another run() goes on. One thread
  // at a time.
  Agreed run(std::chrono::milliseconds timeout);

 private:
  class Prober;

  void awaitProbes(const MeshDeadline& deadline);
  std::vector<uint32_t> candidates() const;
  using Arrived = std::vector<PathProbes::Heard>;  // at one rank, by sender
  Arrived checked(int receiver, Arrived arrived) const;
  Agreed agreed(const std::vector<Arrived>& arrived) const;
  void addLostTrains(const std::vector<uint32_t>& sent,
                     const std::vector<Arrived>& arrived,
                     Agreed* agreed) const;
  std::string nameOf(int rank) const;
  std::string nameOf(int sender, int receiver) const;

  const Mesh mesh_;
  Driver* const driver_;
  const Setup setup_;
  PathProbes::Listener listener_;
  MeshSwap ready_;
  std::unique_ptr<Prober> prober_;  // set once all listen
  std::chrono::steady_clock::time_point probingSince_{};
  std::unique_ptr<MeshSwap> findings_;  // set once probes have been awaited
};

}  // namespace ubt
