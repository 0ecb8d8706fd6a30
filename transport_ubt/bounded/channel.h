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
#include "transport_ubt/bounded/bound_watch.h"
#include "transport_ubt/bounded/engine.h"
#include "transport_ubt/bounded/hello.h"
#include "transport_ubt/bounded/key_exchange.h"
#include "transport_ubt/bounded/lingering.h"
#include "transport_ubt/bounded/mesh.h"
#include "transport_ubt/bounded/mesh_watch.h"
#include "transport_ubt/bounded/path_agreement.h"
#include "transport_ubt/core/base/element_type.h"
#include "transport_ubt/core/op/op_report.h"

namespace gloo {
namespace transport {
namespace ubt {

// One Gloo context's bounded path: what this rank tells the others about it,
// the session once all have told theirs, and its allreduce.
class Channel {
 public:
  // What is behind `mesh` must outlive this.
  Channel(std::shared_ptr<Engine> engine, Mesh mesh);
  // Lingers until no peer needs anything of this rank, within open()'s timeout
  // and Settings::linger, and warns of whom it waits for if that takes long.
  // Not if the last allreduce threw, for then somebody has been waited for
  // already; nor in a forked child, where it does nothing.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const Hello& hello() const { return hello_; }

  // Begins the session. `hellos` and `addresses` (ports do not count) are by
  // rank, the own entries unused; `timeout` is the context's. By one thread at
  // a time, before any allreduce. Waits for all other ranks to do the same, for
  // `wait` at most, and finds out how long datagrams may be on the paths to
  // them (PathAgreement). Throws gloo::Exception that names a rank whose
  // settings or key do not match or that has gone, or a setting too small;
  // MeshSwap::TimedOut if a rank does not come: then the same call may go on.
  void open(const std::vector<Hello>& hellos,
            std::vector<::ubt::SocketAddress> addresses,
            std::chrono::milliseconds timeout,
            std::chrono::milliseconds wait);
  // Of a context that ends now: how long it may linger.
  Lingering lingering() const { return {mesh_.rank, linger_.load()}; }
  // The ranks for which it would linger; empty if for none.
  std::vector<int> neededBy();
  // Its owner has seen to that already: the destructor does not linger.
  void doNotLinger() { linger_ = std::chrono::milliseconds(0); }
  bool isOpen() const { return session_ != nullptr; }

  // Whether allreduce() can take so many values: their number, and that of a
  // shard's slots, have to fit a header. The same on all ranks. REQUIRES
  // isOpen().
  bool takes(::ubt::ElementType type, size_t elements, bool hierarchical) const;

  // Sums `elements` values over all ranks, in place, by the op's bound.
  // `tag`, one of `space`, as in gloo::AllreduceOptions: the same on all ranks,
  // not in use by another allreduce of this context and space now. `timeout`,
  // at most that of open(), bounds warm-up and the wait for ranks that lag;
  // zero, Gloo's kNoTimeout: that of open(). `hierarchical`, likewise the same
  // on all ranks: in the groups that Settings::groups asks for; all in one if
  // those have not one size. Callable from several threads. Throws
  // gloo::IoException that names the rank if one died, disagrees or holds
  // everybody up, the data is then undefined; gloo::InvalidOperationException
  // if it takes no such op; or what agreedGroups() throws, or Engine::driver().
  ::ubt::OpReport allreduce(::ubt::TagSpace space,
                            uint32_t tag,
                            ::ubt::ElementType type,
                            void* data,
                            size_t elements,
                            std::chrono::milliseconds timeout,
                            bool hierarchical = false);

  // The connection to that rank can take no receive any more: it is not
  // watched, and a rank that dies is noticed by its silence alone.
  void leaveOut(int rank);

  // What became of datagrams on the engine's socket, all contexts of it.
  ::ubt::Counters counters() const { return engine_->driver().counters(); }
  const Settings& settings() const { return engine_->settings(); }
  bool isOfThisProcess() const { return engine_->isOfThisProcess(); }
  const ::ubt::SocketAddress& address() const { return engine_->address(); }

 private:
  ::ubt::OpShape shapeOf(::ubt::TagSpace space,
                         ::ubt::ElementType type,
                         size_t elements,
                         bool hierarchical) const;
  void linger();
  void checkEligibility(const std::vector<Hello>& hellos,
                        std::chrono::milliseconds timeout) const;
  size_t agreeOnSlots(const ::ubt::Session::Setup& setup,
                      std::vector<::ubt::SocketAddress> addresses,
                      std::chrono::milliseconds timeout,
                      std::chrono::milliseconds wait);
  std::optional<::ubt::RankGroups> agreeOnGroups(
      const std::vector<Hello>& hellos);
  void checkGroups(std::chrono::milliseconds timeout);
  void watch() noexcept;
  // Warns of what a call shows to be wrong with settings or ranks.
  void advise(const ::ubt::OpReport& report) noexcept;

  const std::shared_ptr<Engine> engine_;
  const Mesh mesh_;
  KeyExchange exchange_;
  Hello hello_;
  std::unique_ptr<PathAgreement> paths_;  // while it opens, or if that failed
  ::ubt::Session* session_ = nullptr;     // the driver's
  std::exception_ptr noGroups_;           // why hierarchical ops cannot be
  std::once_flag farewell_;               // to those that found so, too
  std::string groupsRemark_;              // what to know of those that can
  std::atomic<std::chrono::milliseconds> linger_{std::chrono::milliseconds(0)};
  std::mutex adviceMutex_;
  BoundWatch boundWatch_;
  AbsenceWatch absenceWatch_;
  std::mutex watchMutex_;
  std::vector<bool> watchable_;        // by rank
  std::unique_ptr<MeshWatch> watch_;   // from the first allreduce on
  std::atomic<uint64_t> failures_{0};  // ops that threw
  std::atomic<uint64_t> forgiven_{0};  // of those, before an op that did not
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
