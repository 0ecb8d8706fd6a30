// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/context.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/address.h>

#include <utility>

#include "transport_ubt/io/home_process.h"
#include "transport_ubt/pair.h"

namespace gloo {
namespace transport {
namespace ubt {

using ::ubt::keepForEver;
using ::ubt::SocketAddress;

Context::Context(std::shared_ptr<::gloo::transport::Device> device,
                 std::shared_ptr<Engine> engine,
                 std::shared_ptr<::gloo::transport::Context> tcp,
                 int rank,
                 int size)
    : ::gloo::transport::Context(rank, size),
      device_(std::move(device)),
      tcp_(std::move(tcp)),
      channel_(std::move(engine),
               {rank,
                size,
                [this](void* ptr, size_t bytes) {
                  return tcp_->createUnboundBuffer(ptr, bytes);
                }}),
      addresses_(size) {}

Context::~Context() {
  if (!channel_.isOfThisProcess()) {
    keepForEver(tcp_);
  }
}

std::unique_ptr<::gloo::transport::Pair>& Context::createPair(int rank) {
  tcp_->setTimeout(getTimeout());
  pairs_[rank] =
      std::make_unique<ubt::Pair>(this, rank, tcp_->createPair(rank).get());
  return pairs_[rank];
}

std::unique_ptr<UnboundBuffer> Context::createUnboundBuffer(void* ptr,
                                                            size_t size) {
  return tcp_->createUnboundBuffer(ptr, size);
}

void Context::connected(int peer, const Address& address) {
  std::lock_guard<std::mutex> lock(connectMutex_);
  if (addresses_[peer] == nullptr) {
    addresses_[peer] = std::make_unique<Address>(address);
    connected_++;
  }
  if (connected_ < size - 1 || channel_.isOpen()) {
    // Open only once: with the same keys it would repeat packet numbers.
    return;
  }
  std::vector<Hello> hellos(size);
  std::vector<SocketAddress> sockets(size);
  for (int other = 0; other < size; other++) {
    if (other != rank) {
      hellos[other] = addresses_[other]->hello();
      sockets[other] =
          SocketAddress(tcp::Address(addresses_[other]->tcp()).getSockaddr(),
                        hellos[other].port);
    }
  }
  channel_.open(hellos, std::move(sockets), getTimeout(), getTimeout());
}

bool Context::takes(ElementType type,
                    size_t elements,
                    bool hierarchical) const {
  return !channel_.isOpen() || channel_.takes(type, elements, hierarchical);
}

OpReport Context::allreduce(TagSpace space,
                            uint32_t tag,
                            ElementType type,
                            void* data,
                            size_t elements,
                            std::chrono::milliseconds timeout,
                            bool hierarchical) {
  if (!channel_.isOpen()) {
    throw ::gloo::InvalidOperationException(
        "a bounded allreduce needs a context of two or more ranks, all "
        "connected (connectFullMesh)");
  }
  return channel_.allreduce(
      space, tag, type, data, elements, timeout, hierarchical);
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
