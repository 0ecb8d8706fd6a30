// SPDX-License-Identifier: Apache-2.0
#include "tests/programs/everything.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/transport/unbound_buffer.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Context = std::shared_ptr<gloo::Context>;

// Enough for several chunks, and not a multiple of any of them.
constexpr int kCount = 100003;

void check(bool right, const std::string& what) {
  if (!right) {
    throw std::runtime_error(what + " is wrong");
  }
}

std::vector<float> input(int rank) {
  std::vector<float> values(kCount);
  for (int i = 0; i < kCount; i++) {
    values[i] = static_cast<float>((i + rank * 11) % 64);
  }
  return values;
}

std::vector<float> sums(int size) {
  std::vector<float> values(kCount, 0);
  for (int rank = 0; rank < size; rank++) {
    const auto other = input(rank);
    for (int i = 0; i < kCount; i++) {
      values[i] += other[i];
    }
  }
  return values;
}

void allreduceRingChunked(const Context& context) {
  auto values = input(context->rank);
  gloo::AllreduceRingChunked<float> algorithm(context, {values.data()}, kCount);
  algorithm.run();
  check(values == sums(context->size), "ring-chunked allreduce");
}

void allreduce(const Context& context) {
  auto values = input(context->rank);
  gloo::AllreduceOptions options(context);
  options.setOutput(values.data(), values.size());
  options.setTag(1);
  void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
  options.setReduceFunction(sum);
  gloo::allreduce(options);
  check(values == sums(context->size), "allreduce");
}

void broadcast(const Context& context) {
  const int root = context->size - 1;
  auto values = input(context->rank);
  gloo::BroadcastOptions options(context);
  options.setOutput(values.data(), values.size());
  options.setRoot(root);
  options.setTag(2);
  gloo::broadcast(options);
  check(values == input(root), "broadcast");
}

void allgather(const Context& context) {
  auto own = input(context->rank);
  std::vector<float> all(own.size() * context->size);
  gloo::AllgatherOptions options(context);
  options.setInput(own.data(), own.size());
  options.setOutput(all.data(), all.size());
  options.setTag(3);
  gloo::allgather(options);
  std::vector<float> expected;
  for (int rank = 0; rank < context->size; rank++) {
    const auto part = input(rank);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  check(all == expected, "allgather");
}

void reduce(const Context& context) {
  auto own = input(context->rank);
  std::vector<float> out(own.size());
  gloo::ReduceOptions options(context);
  options.setInput(own.data(), own.size());
  options.setOutput(out.data(), out.size());
  options.setRoot(0);
  options.setTag(4);
  void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
  options.setReduceFunction(sum);
  gloo::reduce(options);
  check(context->rank != 0 || out == sums(context->size), "reduce");
}

void barrier(const Context& context) {
  gloo::BarrierOptions options(context);
  options.setTag(5);
  gloo::barrier(options);
}

// Each rank sends to its next rank and receives from any sender.
void sendAndReceive(const Context& context) {
  constexpr uint64_t kSlot = 0x77;
  const int next = (context->rank + 1) % context->size;
  const int previous = (context->rank + context->size - 1) % context->size;
  auto out = input(context->rank);
  std::vector<float> in(out.size());
  const size_t bytes = out.size() * sizeof(float);
  auto outgoing = context->createUnboundBuffer(out.data(), bytes);
  auto incoming = context->createUnboundBuffer(in.data(), bytes);
  incoming->recv(std::vector<int>{previous}, kSlot);
  outgoing->send(next, kSlot);
  int source = -1;
  check(incoming->waitRecv(&source) && source == previous, "the sender");
  check(outgoing->waitSend(), "the send");
  check(in == input(previous), "what was sent");
}

// Buffers of Gloo's older kind, bound to a pair and a slot.
void boundBuffers(const Context& context) {
  const int slot = context->nextSlot();
  auto out = input(context->rank);
  std::vector<std::vector<float>> in(context->size,
                                     std::vector<float>(out.size()));
  const size_t bytes = out.size() * sizeof(float);
  std::vector<std::unique_ptr<gloo::transport::Buffer>> sends(context->size);
  std::vector<std::unique_ptr<gloo::transport::Buffer>> receives(context->size);
  for (int peer = 0; peer < context->size; peer++) {
    if (peer != context->rank) {
      auto& pair = context->getPair(peer);
      receives[peer] = pair->createRecvBuffer(slot, in[peer].data(), bytes);
      sends[peer] = pair->createSendBuffer(slot, out.data(), bytes);
    }
  }
  barrier(context);
  for (int peer = 0; peer < context->size; peer++) {
    if (peer != context->rank) {
      sends[peer]->send();
    }
  }
  for (int peer = 0; peer < context->size; peer++) {
    if (peer != context->rank) {
      receives[peer]->waitRecv();
      sends[peer]->waitSend();
      check(in[peer] == input(peer), "a bound buffer");
    }
  }
}

}  // namespace

void doEverything(const Context& context) {
  for (int round = 0; round < 3; round++) {
    allreduceRingChunked(context);
    allreduce(context);
    broadcast(context);
    allgather(context);
    reduce(context);
    barrier(context);
    sendAndReceive(context);
    boundBuffers(context);
  }
  // A rank that waits on a bound buffer of tcp may notice that the connection
  // closed before it notices data that came earlier. So no rank may end before
  // all others have their data.
  barrier(context);
}
