// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "transport_ubt/bounded/absence_watch.h"
#include "transport_ubt/bounded/engine.h"
#include "transport_ubt/bounded/hello.h"
#include "transport_ubt/bounded/key_exchange.h"
#include "transport_ubt/bounded/lingering.h"
#include "transport_ubt/bounded/mesh.h"
#include "transport_ubt/bounded/mesh_watch.h"
#include "transport_ubt/bounded/path_agreement.h"
#include "transport_ubt/core/base/element_type.h"
#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/trace/trace_file.h"

namespace ubt {

// The bounded path of one Gloo context: this rank's Hello, the session that
// begins when all ranks have exchanged theirs, and its allreduce.
class Channel {
 public:
  // The objects that `mesh` uses must outlive this.
  Channel(std::shared_ptr<Engine> engine, Mesh mesh);
  // Lingers until no peer needs data from this rank, within open()'s timeout
  // and Settings::linger. If that takes long, warns and names the ranks it
  // waits for. Does not linger if the last allreduce threw, because that call
  // has waited already. In a forked child it does nothing.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const Hello& hello() const { return hello_; }

  // Begins the session. `hellos` and `addresses` are indexed by rank; ports in
  // `addresses` and this rank's entries are unused. `timeout` is the context's.
  // Waits, for at most `wait`, until all other ranks call it, and finds out how
  // many bytes a datagram may have on the paths to them, and whether trains
  // arrive (PathAgreement). Call it from one thread at a time, before any
  // allreduce. Throws gloo::Exception that names a rank whose settings or key
  // do not match or that has gone, or a setting that is too small. Throws
  // MeshSwap::TimedOut if a rank does not come; then the same call may be
  // repeated.
  void open(const std::vector<Hello>& hellos,
            std::vector<SocketAddress> addresses,
            std::chrono::milliseconds timeout,
            std::chrono::milliseconds wait);
  // How long the context may linger if it ends now.
  Lingering lingering() const { return {mesh_.rank, linger_.load()}; }
  // The ranks that need it to linger.
  std::vector<int> neededBy();
  // The destructor will not linger, because the owner has done so.
  void doNotLinger() { linger_ = std::chrono::milliseconds(0); }
  bool isOpen() const { return session_ != nullptr; }

  // Whether allreduce() takes `elements`: their count and the slot count of a
  // shard must fit a packet header. The same on all ranks. REQUIRES: isOpen().
  bool takes(ElementType type, size_t elements, bool hierarchical) const;

  // Sums `elements` elements over all ranks, in place (docs/semantics.md).
  // `tag`, in its `space`, is as in gloo::AllreduceOptions: the same on all
  // ranks, and not in use by another allreduce of this context and space.
  // `timeout`, at most open()'s, bounds warm-up and the wait for slow ranks;
  // zero (Gloo's gloo::kNoTimeout) means open()'s. `hierarchical`, also the
  // same on all ranks, sums in the groups of Settings::groups, or in one group
  // if those differ in size. Several threads may call. Throws gloo::IoException
  // that names a rank if it died, disagrees or blocks the others; `data` is
  // then undefined. Throws gloo::InvalidOperationException if takes() is false,
  // and the exceptions of agreedGroups() and Engine::driver().
  OpReport allreduce(TagSpace space,
                     uint32_t tag,
                     ElementType type,
                     void* data,
                     size_t elements,
                     std::chrono::milliseconds timeout,
                     bool hierarchical = false);

  // Stops watching the connection to that rank, because it takes no receives
  // any more. If the rank dies, only its silence shows it.
  void leaveOut(int rank);

  // Counters of the engine's socket. They include all its contexts.
  Counters counters() const { return engine_->driver().counters(); }
  const Settings& settings() const { return engine_->settings(); }
  bool isOfThisProcess() const { return engine_->isOfThisProcess(); }
  const SocketAddress& address() const { return engine_->address(); }

 private:
  OpShape shapeOf(TagSpace space,
                  ElementType type,
                  size_t elements,
                  bool hierarchical) const;
  void linger();
  void checkEligibility(const std::vector<Hello>& hellos,
                        std::chrono::milliseconds timeout) const;
  PathAgreement::Agreed agreeOnPaths(const Session::Setup& setup,
                                     std::vector<SocketAddress> addresses,
                                     std::chrono::milliseconds timeout,
                                     std::chrono::milliseconds wait);
  std::optional<RankGroups> agreeOnGroups(const std::vector<Hello>& hellos);
  void checkGroups(std::chrono::milliseconds timeout);
  void watch() noexcept;
  void record(const OpShape& shape, const OpReport& report) noexcept;
  // Warns of settings or ranks that a call shows to be wrong.
  void advise(const OpReport& report) noexcept;

  const std::shared_ptr<Engine> engine_;
  const Mesh mesh_;
  KeyExchange exchange_;
  Hello hello_;
  std::unique_ptr<PathAgreement> paths_;  // while it opens, or after a failure
  Session* session_ = nullptr;            // owned by the driver
  std::exception_ptr noGroups_;           // why no hierarchical op can run
  std::once_flag farewell_;               // to ranks that find the same
  std::string groupsRemark_;              // a warning for hierarchical ops
  std::atomic<std::chrono::milliseconds> linger_{std::chrono::milliseconds(0)};
  std::unique_ptr<TraceFile> trace_;  // null: nothing is recorded
  std::mutex adviceMutex_;
  AbsenceWatch absenceWatch_;
  std::mutex watchMutex_;
  std::vector<bool> watchable_;        // by rank
  std::unique_ptr<MeshWatch> watch_;   // from the first allreduce on
  std::atomic<uint64_t> failures_{0};  // ops that threw
  std::atomic<uint64_t> forgiven_{0};  // failures_ before an op that succeeded
};

}  // namespace ubt
