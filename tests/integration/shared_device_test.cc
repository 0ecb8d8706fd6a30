// SPDX-License-Identifier: Apache-2.0
//
// Ranks are threads of one process and share one device. Tests every collective
// of Gloo and of this project, over Gloo's tcp and over ubt.

#include <gloo/allgather.h>
#include <gloo/allgather_ring.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/barrier_all_to_one.h>
#include <gloo/broadcast.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/pairwise_exchange.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/scatter.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/bounded_transpose_allreduce.h"
#include "algorithms/hierarchical_bounded_transpose_allreduce.h"
#include "algorithms/hierarchical_transpose_allreduce.h"
#include "algorithms/transpose_allreduce.h"
#include "tests/conformance/local_ranks.h"
#include "tests/integration/bounded_sums.h"

namespace gloo {
namespace {

using testing::LocalRanks;
using testing::Transport;
using ContextPtr = LocalRanks::ContextPtr;
using Values = std::vector<float>;

constexpr size_t kCount = 5000;  // elements per rank

// Runs one collective at one rank and checks its result.
struct Collective {
  const char* name;
  std::function<void(const ContextPtr&)> run;
};

std::ostream& operator<<(std::ostream& out, const Collective& collective) {
  return out << collective.name;
}

float valueAt(int rank, size_t i) {
  return static_cast<float>(1000 * rank + i % 1000);
}

Values of(int rank, size_t count = kCount) {
  Values values(count);
  for (size_t i = 0; i < count; i++) {
    values[i] = valueAt(rank, i);
  }
  return values;
}

Values sumOf(int ranks) {
  Values sum(kCount);
  for (int rank = 0; rank < ranks; rank++) {
    for (size_t i = 0; i < kCount; i++) {
      sum[i] += valueAt(rank, i);
    }
  }
  return sum;
}

// The values of all ranks, one after another. Rank r has count(r) values.
Values allOf(int ranks, const std::function<size_t(int)>& count) {
  Values all;
  for (int rank = 0; rank < ranks; rank++) {
    const Values values = of(rank, count(rank));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

size_t same(int /*rank*/) {
  return kCount;
}

size_t growing(int rank) {
  return 100 * (rank + 1);
}

void (*const kSum)(void*, const void*, const void*, size_t) = &sum<float>;

// For the ring, the chunked ring, and other classes that sum in place.
template <typename Algorithm>
void sums(const ContextPtr& context) {
  Values values = of(context->rank);
  Algorithm(context, {values.data()}, static_cast<int>(kCount)).run();
  EXPECT_EQ(values, sumOf(context->size));
}

template <typename Barrier>
void meets(const ContextPtr& context) {
  Barrier(context).run();
}

void sumsByOptions(const ContextPtr& context) {
  Values values = of(context->rank);
  AllreduceOptions options(context);
  options.setOutput(values.data(), kCount);
  options.setReduceFunction(kSum);
  allreduce(options);
  EXPECT_EQ(values, sumOf(context->size));
}

void gathersAll(const ContextPtr& context) {
  Values in = of(context->rank);
  Values out(kCount * context->size);
  AllgatherOptions options(context);
  options.setInput(in.data(), in.size());
  options.setOutput(out.data(), out.size());
  allgather(options);
  EXPECT_EQ(out, allOf(context->size, same));
}

void gathersAllOfDifferentSizes(const ContextPtr& context) {
  Values in = of(context->rank, growing(context->rank));
  const Values expected = allOf(context->size, growing);
  Values out(expected.size());
  std::vector<size_t> counts;
  counts.reserve(context->size);
  for (int rank = 0; rank < context->size; rank++) {
    counts.push_back(growing(rank));
  }
  AllgathervOptions options(context);
  options.setInput(in.data(), in.size());
  options.setOutput(out.data(), counts);
  allgatherv(options);
  EXPECT_EQ(out, expected);
}

void gathersInARing(const ContextPtr& context) {
  const Values in = of(context->rank);
  Values out(kCount * context->size);
  AllgatherRing<float>(context, {in.data()}, out.data(), kCount).run();
  EXPECT_EQ(out, allOf(context->size, same));
}

// Rank r sends its part p to rank p, and gets part r of every rank.
void exchangesAll(const ContextPtr& context) {
  const int size = context->size;
  Values in(size);
  std::iota(in.begin(), in.end(), 100.0F * context->rank);
  Values out(size);
  AlltoallOptions options(context);
  options.setInput(in.data(), in.size());
  options.setOutput(out.data(), out.size());
  alltoall(options);
  for (int rank = 0; rank < size; rank++) {
    EXPECT_EQ(out[rank], 100.0F * rank + context->rank);
  }
}

void exchangesAllOfDifferentSizes(const ContextPtr& context) {
  const int size = context->size;
  Values in;
  std::vector<int64_t> sends;
  for (int to = 0; to < size; to++) {
    sends.push_back(to + 1);
    in.insert(in.end(), to + 1, 100.0F * context->rank + to);
  }
  const std::vector<int64_t> receives(size, context->rank + 1);
  Values out(size * (context->rank + 1));
  AlltoallvOptions options(context);
  options.setInput(in.data(), sends);
  options.setOutput(out.data(), receives);
  alltoallv(options);
  for (size_t i = 0; i < out.size(); i++) {
    const size_t from = i / (context->rank + 1);
    EXPECT_EQ(out[i], 100.0F * from + context->rank);
  }
}

void meetsByOptions(const ContextPtr& context) {
  BarrierOptions options(context);
  barrier(options);
}

void broadcasts(const ContextPtr& context) {
  const int root = context->size - 1;
  Values values = of(context->rank);
  BroadcastOptions options(context);
  options.setOutput(values.data(), kCount);
  options.setRoot(root);
  broadcast(options);
  EXPECT_EQ(values, of(root));
}

void broadcastsToAll(const ContextPtr& context) {
  Values values = of(context->rank);
  BroadcastOneToAll<float>(context, {values.data()}, kCount, 0).run();
  EXPECT_EQ(values, of(0));
}

void gathers(const ContextPtr& context) {
  const int root = context->size - 1;
  Values in = of(context->rank);
  Values out(kCount * context->size);
  GatherOptions options(context);
  options.setInput(in.data(), in.size());
  if (context->rank == root) {
    options.setOutput(out.data(), out.size());
  }
  options.setRoot(root);
  gather(options);
  if (context->rank == root) {
    EXPECT_EQ(out, allOf(context->size, same));
  }
}

void reduces(const ContextPtr& context) {
  const int root = context->size - 1;
  Values in = of(context->rank);
  Values out(kCount);
  ReduceOptions options(context);
  options.setInput(in.data(), kCount);
  options.setOutput(out.data(), kCount);
  options.setRoot(root);
  options.setReduceFunction(kSum);
  reduce(options);
  if (context->rank == root) {
    EXPECT_EQ(out, sumOf(context->size));
  }
}

void scatters(const ContextPtr& context) {
  const int root = context->size - 1;
  std::vector<Values> in;
  std::vector<float*> pointers;
  in.reserve(context->size);
  pointers.reserve(context->size);
  for (int rank = 0; rank < context->size; rank++) {
    in.push_back(of(rank));
  }
  for (Values& values : in) {
    pointers.push_back(values.data());
  }
  Values out(kCount);
  ScatterOptions options(context);
  if (context->rank == root) {
    options.setInputs(pointers, kCount);
  }
  options.setOutput(out.data(), kCount);
  options.setRoot(root);
  scatter(options);
  EXPECT_EQ(out, of(context->rank));
}

void reducesAndScatters(const ContextPtr& context) {
  Values values = of(context->rank);
  const auto size = static_cast<size_t>(context->size);
  std::vector<int> counts(size, static_cast<int>(kCount / size));
  counts[0] += kCount % size;
  ReduceScatterHalvingDoubling<float>(context, {values.data()}, kCount, counts)
      .run();
  const Values all = sumOf(context->size);
  const int begin =
      std::accumulate(counts.begin(), counts.begin() + context->rank, 0);
  for (int i = 0; i < counts[context->rank]; i++) {
    ASSERT_EQ(values[i], all[begin + i]) << "element " << i;
  }
}

void exchangesPairs(const ContextPtr& context) {
  PairwiseExchange(context, kCount, 1).run();
}

void passesOn(const ContextPtr& context) {
  const int size = context->size;
  Values out = of(context->rank);
  Values in(kCount);
  auto sent = context->createUnboundBuffer(out.data(), kCount * sizeof(float));
  auto came = context->createUnboundBuffer(in.data(), kCount * sizeof(float));
  sent->send((context->rank + 1) % size, 7);
  came->recv((context->rank + size - 1) % size, 7);
  ASSERT_TRUE(sent->waitSend());
  ASSERT_TRUE(came->waitRecv());
  EXPECT_EQ(in, of((context->rank + size - 1) % size));
}

std::vector<Collective> collectives() {
  return {
      {"AllreduceByOptions", sumsByOptions},
      {"AllreduceRing", sums<AllreduceRing<float>>},
      {"AllreduceRingChunked", sums<AllreduceRingChunked<float>>},
      {"AllreduceHalvingDoubling", sums<AllreduceHalvingDoubling<float>>},
      {"AllreduceBcube", sums<AllreduceBcube<float>>},
      {"Transpose", sums<TransposeAllreduce<float>>},
      {"HierarchicalTranspose", sums<HierarchicalTransposeAllreduce<float>>},
      {"BoundedTranspose", sums<BoundedTransposeAllreduce<float>>},
      {"HierarchicalBoundedTranspose",
       sums<HierarchicalBoundedTransposeAllreduce<float>>},
      {"Allgather", gathersAll},
      {"Allgatherv", gathersAllOfDifferentSizes},
      {"AllgatherRing", gathersInARing},
      {"Alltoall", exchangesAll},
      {"Alltoallv", exchangesAllOfDifferentSizes},
      {"BarrierByOptions", meetsByOptions},
      {"BarrierAllToAll", meets<BarrierAllToAll>},
      {"BarrierAllToOne", meets<BarrierAllToOne>},
      {"Broadcast", broadcasts},
      {"BroadcastOneToAll", broadcastsToAll},
      {"Gather", gathers},
      {"Reduce", reduces},
      {"ReduceScatter", reducesAndScatters},
      {"Scatter", scatters},
      {"PairwiseExchange", exchangesPairs},
      {"SendAndReceive", passesOn},
  };
}

class SharedDevice
    : public ::testing::TestWithParam<std::tuple<std::string, Collective>> {
 protected:
  // The devices live until the process ends, like their meshes.
  static Transport transport(const std::string& name) {
    static const auto kTcp = testing::tcpTransport().createDevice();
    static const auto kUbt = testing::device();
    return {"shared " + name, [name] { return name == "tcp" ? kTcp : kUbt; }};
  }
};

TEST_P(SharedDevice, Serves) {
  const auto& [name, collective] = GetParam();
  for (const int ranks : {2, 4}) {
    LocalRanks& mesh = testing::sharedRanks(transport(name), ranks);
    for (int round = 0; round < 3; round++) {
      ASSERT_EQ(mesh.run(collective.run), "") << ranks << " ranks";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Over,
                         SharedDevice,
                         ::testing::Combine(::testing::Values("tcp", "ubt"),
                                            ::testing::ValuesIn(collectives())),
                         [](const auto& info) {
                           return std::get<0>(info.param) +
                                  std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace gloo
