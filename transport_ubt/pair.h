// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/common/error.h>
#include <gloo/transport/pair.h>

#include <memory>
#include <string>
#include <vector>

#include "transport_ubt/address.h"
#include "transport_ubt/context.h"
#include "transport_ubt/gloo_compat.h"

namespace gloo {
namespace transport {
namespace ubt {

// A tcp pair that carries the rank's Hello in its address. Its buffers are
// tcp's own.
class Pair : public ::gloo::transport::Pair {
 public:
  // REQUIRES: `context` and its pair `tcp` outlive this.
  Pair(Context* context, int rank, ::gloo::transport::Pair* tcp)
      : context_(context),
        rank_(rank),
        tcp_(tcp),
        self_(tcp->address().bytes(),
              context->hello(),
              context->settings().secret,
              context->rank) {}

  const ::gloo::transport::Address& address() const override { return self_; }

  // Throws gloo::IoException if the peer's device is not ubt or cannot be
  // reached, and the exceptions of Address::check().
  void connect(const std::vector<char>& bytes) override {
    const Address peer(bytes);
    peer.check(context_->settings().secret, rank_);
    try {
      tcp_->connect(peer.tcp());
    } catch (const ::gloo::IoException& error) {
      const std::string why = self_.whyUnreachable(peer, rank_);
      if (why.empty()) {
        throw;
      }
      throw ::gloo::IoException(why + ". " + error.what());
    }
    context_->connected(rank_, peer);
  }

  void close() override { tcp_->close(); }

  // Overrides a function of today's Gloo, which that of 2022 lacks.
  bool isConnected() { return compat::isConnected(*tcp_); }

  void setSync(bool enable, bool busyPoll) override {
    context_->synchronous(rank_);  // first: the watch must release the pair
    tcp_->setSync(enable, busyPoll);
  }

  std::unique_ptr<Buffer> createSendBuffer(int slot,
                                           void* ptr,
                                           size_t size) override {
    return tcp_->createSendBuffer(slot, ptr, size);
  }
  std::unique_ptr<Buffer> createRecvBuffer(int slot,
                                           void* ptr,
                                           size_t size) override {
    return tcp_->createRecvBuffer(slot, ptr, size);
  }

  void send(UnboundBuffer* buffer,
            uint64_t tag,
            size_t offset,
            size_t nbytes) override {
    tcp_->send(buffer, tag, offset, nbytes);
  }
  void recv(UnboundBuffer* buffer,
            uint64_t tag,
            size_t offset,
            size_t nbytes) override {
    tcp_->recv(buffer, tag, offset, nbytes);
  }

  // The context of this pair. Algorithms find the bounded path through it.
  Context* context() const { return context_; }

 private:
  Context* const context_;
  const int rank_;
  ::gloo::transport::Pair* const tcp_;
  const Address self_;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
