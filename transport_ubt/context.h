// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/context.h>
#include <gloo/transport/device.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "transport_ubt/address.h"
#include "transport_ubt/bounded/channel.h"

namespace gloo {
namespace transport {
namespace ubt {

using ::ubt::Channel;
using ::ubt::Counters;
using ::ubt::ElementType;
using ::ubt::Engine;
using ::ubt::Mesh;
using ::ubt::OpReport;
using ::ubt::Settings;
using ::ubt::TagSpace;

// One Gloo context: tcp's context for everything reliable, and a session of the
// bounded protocol, which begins once every pair is connected. In a forked
// child its destructor does nothing, and allreduce() throws.
class Context : public ::gloo::transport::Context {
 public:
  Context(std::shared_ptr<::gloo::transport::Device> device,
          std::shared_ptr<Engine> engine,
          std::shared_ptr<::gloo::transport::Context> tcp,
          int rank,
          int size);
  ~Context() override;

  std::unique_ptr<::gloo::transport::Pair>& createPair(int rank) override;
  std::unique_ptr<UnboundBuffer> createUnboundBuffer(void* ptr,
                                                     size_t size) override;

  // Channel::takes(), but true while the ranks are not connected yet.
  bool takes(ElementType type, size_t elements, bool hierarchical) const;

  // Channel::allreduce() over all ranks. Throws gloo::InvalidOperationException
  // if the ranks are not connected yet, or if there is only one.
  OpReport allreduce(TagSpace space,
                     uint32_t tag,
                     ElementType type,
                     void* data,
                     size_t elements,
                     std::chrono::milliseconds timeout,
                     bool hierarchical = false);

  // Counters of this context's device. They include all its contexts.
  Counters counters() const { return channel_.counters(); }
  const Settings& settings() const { return channel_.settings(); }

  // Internal to the transport.
  const Hello& hello() const { return channel_.hello(); }
  void connected(int rank, const Address& address);
  // REQUIRES: called before the rank's pair enters synchronous mode, where it
  // takes no receives from the watch.
  void synchronous(int rank) { channel_.leaveOut(rank); }

 private:
  const std::shared_ptr<::gloo::transport::Device> device_;
  const std::shared_ptr<::gloo::transport::Context> tcp_;
  Channel channel_;  // its destructor uses tcp_
  std::mutex connectMutex_;
  std::vector<std::unique_ptr<Address>> addresses_;  // by rank
  int connected_ = 0;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
