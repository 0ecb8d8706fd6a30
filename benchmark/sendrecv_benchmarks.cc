// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gloo/transport/unbound_buffer.h>

#include "benchmark/registry.h"

namespace gloo {
namespace benchmark {

namespace {

constexpr uint64_t kSlot = 0x1337;
constexpr int kSource = 0;
constexpr int kDestination = 1;

// Both ends have rank 0's values after the first iteration.
template <typename T>
class SendRecv : public TypedBenchmark<T> {
 public:
  using TypedBenchmark<T>::TypedBenchmark;

  void initialize(size_t elements) override {
    buffer_ = this->context_->createUnboundBuffer(
        this->allocate(1, elements).front(), elements * sizeof(T));
  }

  void verify(Mismatches& mismatches) override {
    const auto pattern = this->patternOf(1);
    const auto& buffer = this->buffers_.front();
    for (size_t i = 0; i < buffer.size(); i++) {
      this->expect(i, buffer[i], pattern.value(kSource, i), 0, mismatches);
    }
  }

 protected:
  bool isSource() const { return this->context_->rank == kSource; }

  void send(int peer) {
    buffer_->send(peer, kSlot);
    buffer_->waitSend();
  }

  void receive(int peer) {
    buffer_->recv(peer, kSlot);
    buffer_->waitRecv();
  }

  std::unique_ptr<transport::UnboundBuffer> buffer_;
};

template <typename T>
class Roundtrip : public SendRecv<T> {
 public:
  using SendRecv<T>::SendRecv;

  void run() override {
    if (this->isSource()) {
      this->send(kDestination);
      this->receive(kDestination);
    } else {
      this->receive(kSource);
      this->send(kSource);
    }
  }
};

// When the next message is posted: after the last one is done, or at once.
enum class Posting { kOneByOne, kAllAtOnce };

template <typename T>
class Stress : public SendRecv<T> {
 public:
  Stress(std::shared_ptr<Context> context,
         const Options& options,
         Posting posting)
      : SendRecv<T>(std::move(context), options), posting_(posting) {}

  void run() override {
    const int messages = this->options_.messages;
    if (posting_ == Posting::kOneByOne) {
      for (int i = 0; i < messages; i++) {
        this->isSource() ? this->send(kDestination) : this->receive(kSource);
      }
      return;
    }
    for (int i = 0; i < messages; i++) {
      this->isSource() ? this->buffer_->send(kDestination, kSlot)
                       : this->buffer_->recv(kSource, kSlot);
    }
    for (int i = 0; i < messages; i++) {
      this->isSource() ? this->buffer_->waitSend() : this->buffer_->waitRecv();
    }
  }

 private:
  const Posting posting_;
};

void checkTwo(const Options& options) {
  if (options.size != 2) {
    throw UsageError(fmt::format("--size {}: {} needs exactly 2 processes",
                                 options.size,
                                 options.benchmark));
  }
}

}  // namespace

void addSendRecv(Registry& registry) {
  registry.push_back({"sendrecv_roundtrip",
                      "a buffer to the peer and back",
                      ofFloats<Roundtrip>(),
                      checkTwo});
  registry.push_back({"sendrecv_stress",
                      "--messages one way, each after the last",
                      ofFloats<Stress>(Posting::kOneByOne),
                      checkTwo});
  registry.push_back({"isendirecv_stress",
                      "--messages one way, all posted at once",
                      ofFloats<Stress>(Posting::kAllAtOnce),
                      checkTwo});
}

}  // namespace benchmark
}  // namespace gloo
