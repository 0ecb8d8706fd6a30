// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/channel.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "transport_ubt/bounded/farewell.h"
#include "transport_ubt/bounded/host_id.h"
#include "transport_ubt/bounded/mesh_deadline.h"
#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/io/home_process.h"
#include "transport_ubt/io/multicast_address.h"
#include "transport_ubt/io/steady_now.h"
#include "transport_ubt/io/warning.h"

namespace ubt {
namespace {

// A receiver's window holds this many slots of each sender. With fewer, credit
// would come in steps too large to keep data flowing.
constexpr uint64_t kSlotsPerSender = 4;
constexpr uint64_t kSlotBytesFloor = 1024;

void warnUser(const std::string& text) noexcept {
  try {
    warnOnce("bounded allreduce: " + text);
  } catch (const std::exception&) {
    // Without memory for a warning, other errors will follow.
  }
}

// `heard`: datagrams of the rank have arrived before.
void warnOfSilence(int rank,
                   bool heard,
                   const std::string& address,
                   const std::string& own) noexcept {
  try {
    const std::string died = "has that rank died, or been stopped?";
    const std::string blocked =
        "does a firewall block it? Open the ports of GLOO_UBT_PORTS on both "
        "hosts, or choose another interface (GLOO_SOCKET_IFNAME).";
    warnUser("no valid UDP datagram has arrived from rank " +
             std::to_string(rank) + " (" + address + ") to " + own +
             " for 5 s, and a call here waits for it: " +
             (heard ? died + " Or " + blocked : blocked + " Or " + died));
  } catch (const std::exception&) {  // as above
  }
}

}  // namespace

Channel::Channel(std::shared_ptr<Engine> engine, Mesh mesh)
    : engine_(std::move(engine)),
      mesh_(std::move(mesh)),
      watchable_(mesh_.size, true) {
  hello_.port = address().port();
  hello_.slotBytesMax = static_cast<uint32_t>(engine_->slotBytesMax());
  // It fits: a window is at most the socket's buffer, whose size is an int.
  hello_.windowBytes = static_cast<uint32_t>(engine_->driver().windowBytes());
  hello_.want(settings().minBytes, {settings().groups, hostId()});
  hello_.publicKey = exchange_.publicKey();
}

Channel::~Channel() {
  if (!isOfThisProcess()) {
    // Their threads do not exist in this process.
    keepForEver(std::move(watch_));
    keepForEver(std::move(paths_));
    return;
  }
  if (session_ != nullptr) {
    try {
      // Meanwhile the watch still reports ranks that are gone.
      linger();
    } catch (const std::exception&) {
      // No memory to find out which ranks need it.
    }
    watch_.reset();
    engine_->driver().close(session_);
  }
}

std::vector<int> Channel::neededBy() {
  return session_ == nullptr || failures_ != forgiven_
             ? std::vector<int>()
             : engine_->driver().neededBy(session_);
}

void Channel::linger() {
  Lingering lingering = this->lingering();
  for (;;) {
    const std::vector<int> needing = neededBy();
    const auto now = Lingering::Clock::now();
    const std::string remark = lingering.remark(needing, now);
    if (!remark.empty()) {
      warnOnce(remark);
    }
    if (!lingering.goesOn(needing, now)) {
      return;
    }
    engine_->driver().linger(session_, lingering.nextLook(now) - now);
  }
}

// All ranks must have the same minimum size for the bounded path. Otherwise
// some would wait here, and others over tcp, for each other.
void Channel::checkEligibility(const std::vector<Hello>& hellos,
                               std::chrono::milliseconds timeout) const {
  std::string why;
  for (int peer = 0; peer < mesh_.size && why.empty(); peer++) {
    if (peer != mesh_.rank && hellos[peer].minBytes != hello_.minBytes) {
      why = "rank " + std::to_string(peer) +
            " has GLOO_UBT_MIN_BYTES=" + std::to_string(hellos[peer].minBytes) +
            ", this rank (" + std::to_string(mesh_.rank) + ") " +
            std::to_string(hello_.minBytes) + ": set the same on all ranks";
    }
  }
  if (why.empty()) {
    return;
  }
  // If two ranks differ, every rank differs from some rank, so all come here.
  bidFarewell(mesh_, timeout);
  throw gloo::IoException(why);
}

// All ranks get the same groups or the same error. The error is thrown when an
// op asks for groups, because other ops do not need them.
std::optional<RankGroups> Channel::agreeOnGroups(
    const std::vector<Hello>& hellos) {
  std::vector<GroupWish> wishes;
  wishes.reserve(mesh_.size);
  for (int rank = 0; rank < mesh_.size; rank++) {
    wishes.push_back(rank == mesh_.rank ? hello_.groups : hellos[rank].groups);
  }
  try {
    RankGroups groups = agreedGroups(wishes);
    if (!groups.even()) {
      groupsRemark_ =
          "GLOO_UBT_GROUPS=host: hosts have different numbers of ranks, so "
          "bounded hierarchical allreduces run in one group";
    }
    return groups;
  } catch (const gloo::Exception&) {
    noGroups_ = std::current_exception();
    return std::nullopt;
  }
}

void Channel::checkGroups(std::chrono::milliseconds timeout) {
  if (noGroups_ != nullptr) {
    std::call_once(farewell_, [&] { bidFarewell(mesh_, timeout); });
    std::rethrow_exception(noGroups_);
  }
  if (mesh_.rank != 0) {
    return;  // rank 0 warns for all
  }
  if (!groupsRemark_.empty()) {
    warnOnce(groupsRemark_);
  }
  if (settings().protocol.hadamard == Hadamard::kAlways &&
      session_->hasGroups()) {
    warnOnce(
        "GLOO_UBT_HADAMARD=on: hierarchical allreduces are never transformed");
  }
}

// Slots become at most as large as the setup's.
PathAgreement::Agreed Channel::agreeOnPaths(
    const Session::Setup& setup,
    std::vector<SocketAddress> addresses,
    std::chrono::milliseconds timeout,
    std::chrono::milliseconds wait) {
  if (paths_ == nullptr) {
    PathAgreement::Setup paths;
    paths.epoch = setup.epoch;
    paths.keys = setup.keys;
    paths.addresses = std::move(addresses);
    paths.slotBytes = setup.slotBytesMax;
    paths.aroundBytes = Engine::aroundSlotBytes(setup.options.auth);
    paths.timeout = timeout;
    paths_ = std::make_unique<PathAgreement>(
        mesh_, &engine_->driver(), std::move(paths));
  }
  PathAgreement::Agreed agreed = paths_->run(wait);
  for (const std::string& warning : agreed.warnings) {
    warnUser(warning);
  }
  paths_.reset();
  return agreed;
}

// All ranks derive the same epoch, slot size, keys and groups from the hellos.
void Channel::open(const std::vector<Hello>& hellos,
                   std::vector<SocketAddress> addresses,
                   std::chrono::milliseconds timeout,
                   std::chrono::milliseconds wait) {
  timeout = allowedWait(timeout);
  linger_ = std::min(
      timeout, std::chrono::ceil<std::chrono::milliseconds>(settings().linger));
  checkEligibility(hellos, timeout);
  Session::Setup setup;
  setup.rank = mesh_.rank;
  setup.size = mesh_.size;
  setup.options = settings().protocol;
  setup.options.timeout = timeout;
  setup.slotBytesMax = hello_.slotBytesMax;
  std::vector<PublicKey> publicKeys;
  uint64_t windowMin = hello_.windowBytes;
  for (int peer = 0; peer < mesh_.size; peer++) {
    const Hello& hello = peer == mesh_.rank ? hello_ : hellos[peer];
    publicKeys.push_back(hello.publicKey);
    setup.windowBytes.push_back(hello.windowBytes);
    setup.slotBytesMax =
        std::min<size_t>(setup.slotBytesMax, hello.slotBytesMax);
    windowMin = std::min<uint64_t>(windowMin, hello.windowBytes);
    addresses[peer] = peer == mesh_.rank ? SocketAddress()
                                         : addresses[peer].withPort(hello.port);
  }
  const uint64_t share = windowMin / (kSlotsPerSender * (mesh_.size - 1));
  setup.slotBytesMax = std::min(
      setup.slotBytesMax,
      std::max<size_t>(share / ShardLayout::kSlotStep * ShardLayout::kSlotStep,
                       kSlotBytesFloor));
  setup.epoch = KeyExchange::epoch(publicKeys);
  setup.keys = exchange_.derive(mesh_.rank, publicKeys, settings().secret);
  PathAgreement::Agreed paths = agreeOnPaths(
      setup, addresses, timeout, std::min(timeout, allowedWait(wait)));
  setup.slotBytesMax = paths.slotBytes;
  const size_t slotOfAll = (mesh_.size - 1) * setup.slotBytesMax;
  if (setup.options.order == SumOrder::kRank &&
      slotOfAll > settings().arenaBytes) {
    throw gloo::InvalidOperationException(
        "GLOO_UBT_ORDER=rank with " + std::to_string(mesh_.size) +
        " ranks needs an arena of at least " + std::to_string(slotOfAll) +
        " bytes: raise GLOO_UBT_ARENA_BYTES");
  }
  setup.groups = agreeOnGroups(hellos);
  setup.multicastSeed = KeyExchange::multicastSeed();
  setup.silent = [own = address().str(), addresses](int rank, bool heard) {
    warnOfSilence(rank, heard, addresses[rank].str(), own);
  };
  setup.warn = warnUser;
  if (setup.options.multicast) {
    // Rank 0's port: its firewall, if any, lets it through.
    addresses[mesh_.rank] =
        multicastAddress(address().family(),
                         setup.epoch,
                         mesh_.rank == 0 ? hello_.port : hellos[0].port);
    if (!paths.losesTrains.empty()) {
      paths.losesTrains.push_back(mesh_.rank);  // that is the multicast address
    }
  }
  if (setup.options.trace) {
    trace_ = std::make_unique<TraceFile>(
        settings().traceFolder, setup.epoch, mesh_.rank, steadyToUnix());
  }
  session_ =
      engine_->driver().open(setup, std::move(addresses), paths.losesTrains);
}

OpShape Channel::shapeOf(TagSpace space,
                         ElementType type,
                         size_t elements,
                         bool hierarchical) const {
  OpShape shape;
  shape.elements = elements;
  shape.type = type;
  shape.fingerprint =
      session_->options().fingerprint() |
      (hierarchical && session_->hasGroups() ? OpShape::kHierarchical : 0);
  shape.space = space;
  return shape;
}

bool Channel::takes(ElementType type,
                    size_t elements,
                    bool hierarchical) const {
  UBT_REQUIRE(isOpen());
  return session_->takes(
      shapeOf(TagSpace::kOptions, type, elements, hierarchical));
}

OpReport Channel::allreduce(TagSpace space,
                            uint32_t tag,
                            ElementType type,
                            void* data,
                            size_t elements,
                            std::chrono::milliseconds timeout,
                            bool hierarchical) {
  Driver& driver = engine_->driver();
  if (hierarchical) {
    checkGroups(allowedWait(timeout));
  }
  watch();
  const OpShape shape = shapeOf(space, type, elements, hierarchical);
  if (!session_->takes(shape)) {
    throw gloo::InvalidOperationException(
        "a bounded allreduce takes at most 4294967295 elements, and in each "
        "shard at most " +
        std::to_string(PacketHeader::kSlotsMax) + " slots of " +
        std::to_string(session_->slotBytesMax()) + " bytes, not " +
        std::to_string(elements) + " elements: split it");
  }
  OpReport report;
  Driver::Failure failure;
  const uint64_t failuresBefore = failures_;
  if (!driver.allreduce(session_,
                        tag,
                        shape,
                        static_cast<std::byte*>(data),
                        allowedWait(timeout),
                        &report,
                        &failure)) {
    failures_++;
    throw gloo::IoException("bounded allreduce: " + failure.what);
  }
  forgiven_ = failuresBefore;
  record(shape, report);
  advise(report);
  return report;
}

// The call has its result, so a failure here must not make it throw. The same
// holds for advise().
void Channel::record(const OpShape& shape, const OpReport& report) noexcept {
  if (trace_ == nullptr || report.trace == nullptr) {
    return;
  }
  try {
    trace_->add(report.op, shape.bytes(), *report.trace);
    if (!trace_->ok()) {
      warnUser("cannot write " + trace_->path() +
               ": does the folder of GLOO_UBT_TRACE exist?");
    }
  } catch (const std::exception&) {  // no memory for a record
  }
}

void Channel::advise(const OpReport& report) noexcept {
  try {
    std::string absence;
    {
      std::lock_guard<std::mutex> lock(adviceMutex_);
      absence = absenceWatch_.returned(report);
    }
    if (!absence.empty()) {
      warnUser(absence);
    }
    if (report.driftElements > 0 &&
        settings().protocol.repair == RepairPolicy::kNone) {
      warnUser(
          "replicas drift apart, because this rank lost "
          "results and GLOO_UBT_REPAIR=none does not repair them. Set it to "
          "broadcast, or make replicas equal again (docs/drop_in.md, From "
          "Python)");
    }
  } catch (const std::exception&) {  // no memory for advice
  }
}

// If the watch cannot begin, the next call tries again. Until then, only its
// silence shows that a rank has died.
void Channel::watch() noexcept {
  try {
    std::lock_guard<std::mutex> lock(watchMutex_);
    if (watch_ == nullptr) {
      watch_ = std::make_unique<MeshWatch>(
          mesh_, watchable_, [this](int peer, const std::string& why) {
            engine_->driver().peerClosed(session_, peer, why);
          });
    }
  } catch (const std::exception&) {  // no memory, or no thread
  }
}

void Channel::leaveOut(int rank) {
  std::lock_guard<std::mutex> lock(watchMutex_);
  watchable_[rank] = false;
  if (watch_ != nullptr) {
    watch_->leaveOut(rank);
  }
}

}  // namespace ubt
