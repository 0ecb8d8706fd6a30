// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/context.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "transport_ubt/address.h"
#include "transport_ubt/core/op_report.h"
#include "transport_ubt/core/session.h"
#include "transport_ubt/gloo_compat.h"
#include "transport_ubt/key_exchange.h"
#include "transport_ubt/mesh_watch.h"

namespace gloo {
namespace transport {
namespace ubt {

class Device;

// The ranks of one Gloo context: tcp's context for everything reliable, and a
// session of the bounded protocol, begun once every pair is connected.
class Context : public ::gloo::transport::Context {
 public:
  Context(std::shared_ptr<Device> device,
          std::shared_ptr<::gloo::transport::Context> tcp,
          int rank,
          int size);
  // Lingers until no peer needs anything of this rank, within the timeout; not
  // if the last allreduce threw, for then somebody has been waited for already.
  ~Context() override;

  std::unique_ptr<::gloo::transport::Pair>& createPair(int rank) override;
  std::unique_ptr<UnboundBuffer> createUnboundBuffer(void* ptr,
                                                     size_t size) override;

  // Sums `elements` values over all ranks, in place, by the op's bound.
  // `tag`, one of `space`, as in gloo::AllreduceOptions: the same on all ranks,
  // not in use by another allreduce of this context and space now. `timeout`
  // bounds warm-up and the wait for ranks that lag; zero, Gloo's kNoTimeout,
  // does not. Callable from several threads. Throws gloo::IoException that
  // names the rank if one died, disagrees or holds everybody up; the data is
  // then undefined.
  ::ubt::OpReport allreduce(::ubt::TagSpace space,
                            uint32_t tag,
                            ::ubt::ElementType type,
                            void* data,
                            size_t elements,
                            std::chrono::milliseconds timeout);

  // What became of datagrams on this context's device, all contexts of it.
  ::ubt::Counters counters() const;
  const Device& device() const { return *device_; }

  // Internal to the transport.
  const Hello& hello() const { return hello_; }
  void connected(int rank, const Address& address);
  // The rank's pair is about to enter synchronous mode.
  void synchronous(int rank);

 private:
  void openSession();
  void checkEligibility();

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<::gloo::transport::Context> tcp_;
  KeyExchange exchange_;
  Hello hello_;
  std::mutex connectMutex_;
  std::vector<std::unique_ptr<Address>> addresses_;  // by rank
  int connected_ = 0;
  ::ubt::Session* session_ = nullptr;  // the driver's
  std::mutex watchMutex_;
  std::vector<bool> watchable_;        // by rank: no pair in synchronous mode
  std::unique_ptr<MeshWatch> watch_;   // from the first bounded op on
  std::atomic<uint64_t> failures_{0};  // ops that threw
  std::atomic<uint64_t> forgiven_{0};  // of those, before an op that did not
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
