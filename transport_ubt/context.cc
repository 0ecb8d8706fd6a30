// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/context.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/address.h>

#include <algorithm>

#include "transport_ubt/device.h"
#include "transport_ubt/pair.h"
#include "transport_ubt/patience.h"

namespace gloo {
namespace transport {
namespace ubt {
namespace {

// A receiver's window holds so many slots of each sender, or credit would come
// in steps too large to keep data flowing.
constexpr uint64_t kSlotsPerSender = 4;
constexpr uint64_t kSlotBytesFloor = 1024;
// No collective's: those have a small prefix in the top byte.
constexpr uint64_t kFarewellSlot = 0xfd00000000000000;

}  // namespace

Context::Context(std::shared_ptr<Device> device,
                 std::shared_ptr<::gloo::transport::Context> tcp,
                 int rank,
                 int size)
    : ::gloo::transport::Context(rank, size),
      device_(std::move(device)),
      tcp_(std::move(tcp)),
      addresses_(size),
      watchable_(size, true) {
  hello_.port = device_->driver().socket().address().port();
  hello_.slotBytesMax = static_cast<uint32_t>(device_->slotBytesMax());
  // No more than the socket's buffer, whose size is an int.
  hello_.windowBytes = static_cast<uint32_t>(device_->driver().windowBytes());
  hello_.minBytes = device_->settings().minBytes;
  hello_.publicKey = exchange_.publicKey();
}

Context::~Context() {
  if (session_ != nullptr) {
    // While it lingers, the watch still tells of ranks that are gone.
    if (failures_ == forgiven_) {
      device_->driver().linger(session_, patience(getTimeout()));
    }
    watch_.reset();
    device_->driver().close(session_);
  }
  pairs_.clear();
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
  if (connected_ == size - 1 && session_ == nullptr) {
    openSession();  // once: with the same keys it would repeat packet numbers
  }
}

void Context::synchronous(int peer) {
  std::lock_guard<std::mutex> lock(watchMutex_);
  watchable_[peer] = false;
  if (watch_ != nullptr) {
    watch_->leaveOut(peer);
  }
}

// Ranks with different ideas of what is bounded would wait for each other, some
// here, some over tcp.
void Context::checkEligibility() {
  std::string why;
  for (int peer = 0; peer < size && why.empty(); peer++) {
    if (peer != rank && addresses_[peer]->hello().minBytes != hello_.minBytes) {
      why = "rank " + std::to_string(peer) + " has GLOO_UBT_MIN_BYTES=" +
            std::to_string(addresses_[peer]->hello().minBytes) +
            ", this rank (" + std::to_string(rank) + ") " +
            std::to_string(hello_.minBytes) + ": set the same on all ranks";
    }
  }
  if (why.empty()) {
    return;
  }
  // If any two ranks differ, every rank differs from some: all come by here.
  // Nobody leaves before all have, or some would see closed connections only.
  char byte = 0;
  std::vector<std::unique_ptr<UnboundBuffer>> buffers;
  try {
    for (int peer = 0; peer < size; peer++) {
      if (peer != rank) {
        buffers.push_back(tcp_->createUnboundBuffer(&byte, sizeof(byte)));
        buffers.back()->send(peer, kFarewellSlot);
        buffers.back()->recv(peer, kFarewellSlot);
      }
    }
    for (const auto& buffer : buffers) {
      buffer->waitSend(patience(getTimeout()));
      buffer->waitRecv(patience(getTimeout()));
    }
  } catch (const ::gloo::IoException&) {
  }
  throw ::gloo::IoException(why);
}

// What all ranks derive from the same addresses: epoch, slot size, keys.
void Context::openSession() {
  checkEligibility();
  ::ubt::Session::Setup setup;
  setup.rank = rank;
  setup.size = size;
  setup.options = device_->settings().protocol;
  setup.options.timeout = patience(getTimeout());
  setup.slotBytesMax = hello_.slotBytesMax;
  std::vector<PublicKey> publicKeys;
  std::vector<::ubt::SocketAddress> sockets;
  uint64_t windowMin = hello_.windowBytes;
  for (int peer = 0; peer < size; peer++) {
    const bool own = peer == rank;
    const Hello& hello = own ? hello_ : addresses_[peer]->hello();
    publicKeys.push_back(hello.publicKey);
    setup.windowBytes.push_back(hello.windowBytes);
    setup.slotBytesMax =
        std::min<size_t>(setup.slotBytesMax, hello.slotBytesMax);
    windowMin = std::min<uint64_t>(windowMin, hello.windowBytes);
    sockets.push_back(
        own ? ::ubt::SocketAddress()
            : ::ubt::SocketAddress(
                  tcp::Address(addresses_[peer]->tcp()).getSockaddr(),
                  hello.port));
  }
  const uint64_t share = windowMin / (kSlotsPerSender * (size - 1));
  setup.slotBytesMax = std::min(
      setup.slotBytesMax, std::max<size_t>(share / 64 * 64, kSlotBytesFloor));
  const size_t slotOfAll = (size - 1) * setup.slotBytesMax;
  if (setup.options.order == ::ubt::SumOrder::kRank &&
      slotOfAll > device_->settings().arenaBytes) {
    throw ::gloo::InvalidOperationException(
        "to add in rank order (GLOO_UBT_ORDER) among " + std::to_string(size) +
        " ranks, the arena has to hold " + std::to_string(slotOfAll) +
        " bytes or more: raise GLOO_UBT_ARENA_BYTES");
  }
  setup.epoch = KeyExchange::epoch(publicKeys);
  setup.keys = exchange_.derive(rank, publicKeys, device_->settings().secret);
  session_ = device_->driver().open(setup, std::move(sockets));
}

::ubt::OpReport Context::allreduce(uint32_t tag,
                                   ::ubt::ElementType type,
                                   void* data,
                                   size_t elements,
                                   std::chrono::milliseconds timeout) {
  if (session_ == nullptr) {
    throw ::gloo::InvalidOperationException(
        "a bounded allreduce needs a context of two or more ranks, all "
        "connected (connectFullMesh)");
  }
  if (elements > UINT32_MAX) {
    throw ::gloo::InvalidOperationException(
        "a bounded allreduce takes at most 4294967295 elements, not " +
        std::to_string(elements) + ": split it");
  }
  {
    std::lock_guard<std::mutex> lock(watchMutex_);
    if (watch_ == nullptr) {
      watch_ = std::make_unique<MeshWatch>(
          tcp_.get(), watchable_, [this](int peer, const std::string& why) {
            device_->driver().peerClosed(session_, peer, why);
          });
    }
  }
  ::ubt::OpShape shape;
  shape.elements = elements;
  shape.type = type;
  shape.fingerprint = session_->options().fingerprint();
  ::ubt::OpReport report;
  ::ubt::Driver::Failure failure;
  const uint64_t failuresBefore = failures_;
  if (!device_->driver().allreduce(session_,
                                   tag,
                                   shape,
                                   static_cast<std::byte*>(data),
                                   patience(timeout),
                                   &report,
                                   &failure)) {
    failures_++;
    throw ::gloo::IoException("bounded allreduce: " + failure.what);
  }
  forgiven_ = failuresBefore;
  return report;
}

::ubt::Counters Context::counters() const {
  return device_->driver().counters();
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
