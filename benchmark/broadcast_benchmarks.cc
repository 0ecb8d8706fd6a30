// SPDX-License-Identifier: Apache-2.0
#include <gloo/broadcast.h>
#include <gloo/broadcast_one_to_all.h>

#include "benchmark/registry.h"

namespace gloo {
namespace benchmark {

namespace {

constexpr int kRoot = 0;

// Gloo's options form: one buffer.
template <typename T>
class Broadcast : public TypedBenchmark<T> {
 public:
  Broadcast(std::shared_ptr<Context> context, const Options& options)
      : TypedBenchmark<T>(context, options), collective_(context) {}

  void initialize(size_t elements) override {
    collective_.setRoot(kRoot);
    collective_.setOutput(this->allocate(1, elements).front(), elements);
  }

  void run() override { broadcast(collective_); }

  void verify(Mismatches& mismatches) override {
    const auto pattern = this->patternOf(1);
    const auto& buffer = this->buffers_.front();
    for (size_t i = 0; i < buffer.size(); i++) {
      this->expect(i, buffer[i], pattern.value(kRoot, i), 0, mismatches);
    }
  }

 private:
  BroadcastOptions collective_;
};

// Gloo's algorithm class: the root's first buffer into all buffers.
template <typename T>
class OneToAll : public TypedBenchmark<T> {
 public:
  using TypedBenchmark<T>::TypedBenchmark;

  void initialize(size_t elements) override {
    const auto pointers = this->allocate(this->inputs(), elements);
    algorithm_ = std::make_unique<BroadcastOneToAll<T>>(
        this->context_, pointers, static_cast<int>(elements), kRoot);
  }

  void run() override { algorithm_->run(); }

  void verify(Mismatches& mismatches) override {
    const auto pattern = this->patternOf(this->inputs());
    for (const auto& buffer : this->buffers_) {
      for (size_t i = 0; i < buffer.size(); i++) {
        this->expect(i, buffer[i], pattern.value(kRoot, i), 0, mismatches);
      }
    }
  }

 private:
  std::unique_ptr<BroadcastOneToAll<T>> algorithm_;
};

}  // namespace

void addBroadcast(Registry& registry) {
  registry.push_back(
      {"broadcast", "rank 0's buffer to all, a tree", ofFloats<Broadcast>()});
  registry.push_back({"broadcast_one_to_all",
                      "rank 0's buffer to all, one by one",
                      ofFloats<OneToAll>()});
}

}  // namespace benchmark
}  // namespace gloo
