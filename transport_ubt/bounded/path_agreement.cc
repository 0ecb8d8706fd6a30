// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/path_agreement.h"

#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "transport_ubt/bounded/hello.h"
#include "transport_ubt/bounded/mesh_slots.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/io/interface.h"
#include "transport_ubt/io/path_probe.h"
#include "transport_ubt/io/quiet_thread.h"

namespace ubt {
namespace {

// MTUs of common networks and tunnels. Every network carries the last ones.
constexpr int kMtus[] = {9000, 8896, 8000, 4000, 1500, 1460, 1400, 1280, 576};
// The first and the longest pause between rounds of probes. Each is twice the
// one before.
constexpr std::chrono::milliseconds kFirstPause{5};
constexpr std::chrono::milliseconds kLongestPause{160};
// The first rounds send full datagrams only, because mostly no others are
// needed.
constexpr int kFullRounds = 2;

constexpr size_t kFindingBytes = 2 * sizeof(uint32_t);

std::vector<uint8_t> encode(const std::vector<PathProbes::Heard>& findings) {
  std::vector<uint8_t> bytes(findings.size() * kFindingBytes);
  WriteCursor cursor(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
  for (const PathProbes::Heard& heard : findings) {
    cursor.put(heard.slotBytes);
    cursor.put(heard.inTrains);
  }
  return bytes;
}

std::vector<PathProbes::Heard> decode(const std::vector<uint8_t>& bytes) {
  ReadCursor cursor(reinterpret_cast<const std::byte*>(bytes.data()),
                    bytes.size());
  std::vector<PathProbes::Heard> findings(bytes.size() / kFindingBytes);
  for (PathProbes::Heard& heard : findings) {
    heard.slotBytes = cursor.get<uint32_t>();
    heard.inTrains = cursor.get<uint32_t>();
  }
  return findings;
}

std::vector<AuthKey> receiveKeys(const std::vector<PeerKeys>& peers) {
  std::vector<AuthKey> keys;
  keys.reserve(peers.size());
  for (const PeerKeys& peer : peers) {
    keys.push_back(peer.receive);
  }
  return keys;
}

}  // namespace

// Sends probes to all other ranks repeatedly, until it is destroyed.
class PathAgreement::Prober {
 public:
  explicit Prober(const PathAgreement* agreement)
      : agreement_(agreement),
        candidates_(agreement->candidates()),
        inTrains_(agreement->mesh_.size),
        thread_(quietThread([this] { run(); })) {}
  ~Prober() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // For each rank, the slots of the largest train that has left, in bytes; 0:
  // no train has left.
  std::vector<uint32_t> inTrains() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return inTrains_;
  }

 private:
  void run() {
    try {
      probe();
    } catch (const std::exception&) {
      // Without memory this rank sends no probes, and other ranks warn of that.
    }
  }

  void probe() {
    auto pause = kFirstPause;
    std::unique_lock<std::mutex> lock(mutex_);
    for (int round = 0; !over_; round++) {
      lock.unlock();
      const size_t sizes = round < kFullRounds ? 1 : candidates_.size();
      for (size_t i = 0; i < sizes; i++) {
        send(candidates_[i]);
      }
      lock.lock();
      changed_.wait_for(lock, pause, [this] { return over_; });
      pause = std::min(2 * pause, kLongestPause);
    }
  }

  void send(uint32_t slotBytes) {
    const UdpSocket& socket = agreement_->driver_->socket();
    for (int rank = 0; rank < agreement_->mesh_.size; rank++) {
      if (rank == agreement_->mesh_.rank) {
        continue;
      }
      const SocketAddress to =
          reachedFrom(socket.address(), agreement_->setup_.addresses[rank]);
      const auto probe = [&](PathProbe::Form form) {
        return encoded(rank, slotBytes, form);
      };
      // A probe that this host refuses to send counts as not sent.
      const bool train = fitTrain(slotBytes) &&
                         agreement_->driver_->takesTrains(to) &&
                         socket.sendWhole(to,
                                          {probe(PathProbe::Form::kTrainBegin),
                                           probe(PathProbe::Form::kTrainEnd)});
      (void)socket.sendWhole(to,
                             {probe(train ? PathProbe::Form::kSingleToo
                                          : PathProbe::Form::kSingle)});
      if (train) {
        const std::lock_guard<std::mutex> lock(mutex_);
        inTrains_[rank] = std::max(inTrains_[rank], slotBytes);
      }
    }
  }

  bool fitTrain(uint32_t slotBytes) const {
    return 2 * (slotBytes + agreement_->setup_.aroundBytes) <=
           UdpSocket::kTrainBytesMax;
  }

  std::vector<std::byte> encoded(int rank,
                                 uint32_t slotBytes,
                                 PathProbe::Form form) const {
    const Setup& setup = agreement_->setup_;
    PathProbe probe;
    probe.epoch = setup.epoch;
    probe.source = static_cast<uint32_t>(agreement_->mesh_.rank);
    probe.destination = static_cast<uint32_t>(rank);
    probe.slotBytes = slotBytes;
    probe.form = form;
    return probe.encode(setup.keys[rank].send, slotBytes + setup.aroundBytes);
  }

  const PathAgreement* const agreement_;
  const std::vector<uint32_t> candidates_;  // the largest first
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::vector<uint32_t> inTrains_;  // by rank
  std::thread thread_;
};

PathAgreement::PathAgreement(const Mesh& mesh, Driver* driver, Setup setup)
    : mesh_(mesh),
      driver_(driver),
      setup_(std::move(setup)),
      listener_(
          &driver->probes(), setup_.epoch, mesh.rank, receiveKeys(setup_.keys)),
      ready_(mesh, MeshSlots::kPathsReady, std::vector<uint8_t>(1)) {}

PathAgreement::~PathAgreement() = default;

std::vector<uint32_t> PathAgreement::candidates() const {
  const int around = driver_->socket().address().headerBytes() +
                     static_cast<int>(setup_.aroundBytes);
  std::vector<uint32_t> slots{static_cast<uint32_t>(setup_.slotBytes)};
  for (const int mtu : kMtus) {
    const auto step = static_cast<int>(ShardLayout::kSlotStep);
    const auto slot = static_cast<uint32_t>((mtu - around) / step * step);
    if (slot < slots.back() && slot >= Hello::kSlotBytesMin) {
      slots.push_back(slot);
    }
  }
  return slots;
}

// Waits until the probes to this rank have arrived, or until the limit is
// over.
void PathAgreement::awaitProbes(const MeshDeadline& deadline) {
  const auto arrived = [&](auto&& await, std::chrono::milliseconds most) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        probingSince_ + most - std::chrono::steady_clock::now());
    const auto wait = std::max(left, std::chrono::milliseconds(0));
    if (await(std::min(wait, deadline.remaining()))) {
      return true;
    }
    if (std::chrono::steady_clock::now() < probingSince_ + most) {
      throw MeshSwap::TimedOut(
          "bounded allreduce: the paths between ranks were not all tested in "
          "time");
    }
    return false;
  };
  const auto limit = std::min(kAnyWait, setup_.timeout / 4);
  const auto full = [&](std::chrono::milliseconds wait) {
    return listener_.awaitFull(static_cast<uint32_t>(setup_.slotBytes), wait);
  };
  const auto any = [&](std::chrono::milliseconds wait) {
    return listener_.awaitAny(wait);
  };
  if (!arrived(full, std::min(kFullWait, limit))) {
    arrived(any, limit);
  }
}

PathAgreement::Agreed PathAgreement::run(std::chrono::milliseconds timeout) {
  const MeshDeadline deadline(timeout);
  ready_.run(timeout);  // now all ranks listen
  if (prober_ == nullptr) {
    prober_ = std::make_unique<Prober>(this);
    probingSince_ = std::chrono::steady_clock::now();
  }
  if (findings_ == nullptr) {
    awaitProbes(deadline);
    findings_ = std::make_unique<MeshSwap>(
        mesh_, MeshSlots::kPathsFound, encode(listener_.heard()));
  }
  // The prober goes on, because other ranks may still wait for its probes.
  const auto all = findings_->run(deadline.remaining());
  const std::vector<uint32_t> sent = prober_->inTrains();
  prober_.reset();
  std::vector<Arrived> arrived;
  arrived.reserve(all.size());
  for (const std::vector<uint8_t>& bytes : all) {
    arrived.push_back(checked(static_cast<int>(arrived.size()), decode(bytes)));
  }
  Agreed out = agreed(arrived);
  addLostTrains(sent, arrived, &out);
  return out;
}

// Throws if that rank reports what no rank has sent.
PathAgreement::Arrived PathAgreement::checked(int receiver,
                                              Arrived arrived) const {
  const std::vector<uint32_t> sizes = candidates();
  for (int sender = 0; sender < mesh_.size; sender++) {
    for (const uint32_t slot :
         {arrived[sender].slotBytes, arrived[sender].inTrains}) {
      if (receiver != sender && slot != 0 &&
          std::count(sizes.begin(), sizes.end(), slot) == 0) {
        throw gloo::IoException(nameOf(receiver) + " reports a slot of " +
                                std::to_string(slot) +
                                " bytes, which no rank has tested");
      }
    }
  }
  return arrived;
}

std::string PathAgreement::nameOf(int rank) const {
  const std::string name = "rank " + std::to_string(rank);
  return rank == mesh_.rank
             ? name + " (this one, " + driver_->socket().address().str() + ")"
             : name + " (" + setup_.addresses[rank].str() + ")";
}

std::string PathAgreement::nameOf(int sender, int receiver) const {
  return "from " + nameOf(sender) + " to " + nameOf(receiver);
}

// `arrived` is indexed by receiver, then by sender.
PathAgreement::Agreed PathAgreement::agreed(
    const std::vector<Arrived>& arrived) const {
  Agreed out;
  out.slotBytes = setup_.slotBytes;
  for (int receiver = 0; receiver < mesh_.size; receiver++) {
    for (int sender = 0; sender < mesh_.size; sender++) {
      const uint32_t slot = arrived[receiver][sender].slotBytes;
      if (sender == receiver || slot >= setup_.slotBytes) {
        continue;
      }
      if (slot >= Hello::kSlotBytesMin) {
        out.slotBytes = std::min<size_t>(out.slotBytes, slot);
      }
      const bool own = receiver == mesh_.rank || sender == mesh_.rank;
      if (own && slot == 0) {
        out.warnings.push_back(
            "no UDP datagram arrives " + nameOf(sender, receiver) +
            ": does a firewall block it? Open the ports of GLOO_UBT_PORTS on "
            "both hosts, or choose another interface (GLOO_SOCKET_IFNAME)");
      } else if (own && sender == mesh_.rank) {
        out.warnings.push_back(
            "the path " + nameOf(sender, receiver) +
            " carries no datagrams of " +
            std::to_string(setup_.slotBytes + setup_.aroundBytes) +
            " bytes, only of " + std::to_string(slot + setup_.aroundBytes) +
            ": all ranks send datagrams of at most that size. Set GLOO_UBT_MTU "
            "to a size that all paths carry");
      }
    }
  }
  return out;
}

// `sent`: Prober::inTrains(). REQUIRES: `agreed` has the slot size.
void PathAgreement::addLostTrains(const std::vector<uint32_t>& sent,
                                  const std::vector<Arrived>& arrived,
                                  Agreed* agreed) const {
  for (int receiver = 0; receiver < mesh_.size; receiver++) {
    const PathProbes::Heard& heard = arrived[receiver][mesh_.rank];
    if (receiver == mesh_.rank || heard.slotBytes == 0 ||
        sent[receiver] < agreed->slotBytes ||
        heard.inTrains >= agreed->slotBytes) {
      continue;
    }
    agreed->losesTrains.push_back(receiver);
    agreed->warnings.push_back(
        "trains of datagrams get lost " + nameOf(mesh_.rank, receiver) +
        ", single ones do not: that host gets single datagrams, which take "
        "more CPU time. An interface on the way may segment them wrongly; as "
        "root, ethtool -K INTERFACE tx-udp-segmentation off lets the kernel do "
        "it");
  }
}

}  // namespace ubt
