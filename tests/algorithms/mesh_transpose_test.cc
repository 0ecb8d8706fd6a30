// SPDX-License-Identifier: Apache-2.0
//
// The number of messages that a transpose sends, and their receivers.
#include "algorithms/mesh_transpose.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/allreduce_options.h"
#include "algorithms/context_mesh.h"
#include "tests/conformance/transpose_job.h"

namespace gloo {
namespace testing {
namespace {

// The messages that one rank has sent.
struct Sent {
  size_t messages = 0;
  size_t bytes = 0;
  std::set<int> peers;
};

// Counts the messages that are sent from it.
class CountingBuffer : public transport::UnboundBuffer {
 public:
  CountingBuffer(std::unique_ptr<transport::UnboundBuffer> buffer, Sent* sent)
      : UnboundBuffer(buffer->ptr, buffer->size),
        buffer_(std::move(buffer)),
        sent_(sent) {}

  bool waitRecv(int* rank, std::chrono::milliseconds timeout) override {
    return buffer_->waitRecv(rank, timeout);
  }
  bool waitSend(int* rank, std::chrono::milliseconds timeout) override {
    return buffer_->waitSend(rank, timeout);
  }
  void abortWaitRecv() override { buffer_->abortWaitRecv(); }
  void abortWaitSend() override { buffer_->abortWaitSend(); }
  void send(int rank, uint64_t slot, size_t offset, size_t bytes) override {
    sent_->messages++;
    sent_->bytes += bytes;
    sent_->peers.insert(rank);
    buffer_->send(rank, slot, offset, bytes);
  }
  void recv(int rank, uint64_t slot, size_t offset, size_t bytes) override {
    buffer_->recv(rank, slot, offset, bytes);
  }
  void recv(std::vector<int> ranks,
            uint64_t slot,
            size_t offset,
            size_t bytes) override {
    buffer_->recv(std::move(ranks), slot, offset, bytes);
  }

 private:
  const std::unique_ptr<transport::UnboundBuffer> buffer_;
  Sent* const sent_;
};

// The messages of each rank in an allreduce of `count` bytes, with at most a
// thousand bytes each.
std::vector<Sent> sentBy(const std::vector<GroupWish>& wishes, size_t count) {
  const auto groups = agreedGroups(wishes);
  std::vector<Sent> sent(groups.ranks());
  const auto error =
      sharedRanks(tcpTransport(), groups.ranks()).run([&](const auto& context) {
        Sent& mine = sent[context->rank];
        ubt::Mesh mesh = contextMesh(*context);
        mesh.createUnboundBuffer = [&, inner = mesh.createUnboundBuffer](
                                       void* ptr, size_t bytes) {
          return std::make_unique<CountingBuffer>(inner(ptr, bytes), &mine);
        };
        // The output's sends are counted, too.
        std::vector<int8_t> values(count, 1);
        AllreduceOptions options(context);
        options.setOutput<int8_t>(
            mesh.createUnboundBuffer(values.data(), values.size()));
        void (*add)(void*, const void*, const void*, size_t) = &sum<int8_t>;
        options.setReduceFunction(add);
        options.setMaxSegmentSize(1000);
        const auto& impl = allreduceOptionsImpl(options);
        meshHierarchicalTransposeAllreduce(
            mesh, impl, groups, MeshDeadline(impl.timeout));
        EXPECT_EQ(values, std::vector<int8_t>(count, groups.ranks()));
      });
  EXPECT_EQ(error, "");
  return sent;
}

TEST(MeshTranspose, roundsAreThoseOfThePaper) {
  constexpr size_t kSegments = 5;
  for (const auto& [ranks, count] : {std::pair<size_t, size_t>(8, 2),
                                     {8, 4},
                                     {8, 1},
                                     {8, 8},
                                     {6, 3},
                                     {7, 7},
                                     {16, 4}}) {
    const size_t members = ranks / count;
    const size_t rounds = 2 * (members - 1) + (count - 1);
    const size_t shard = 1000 * kSegments;
    for (const Sent& sent :
         sentBy(equalGroups(ranks, count), shard * members)) {
      EXPECT_EQ(sent.messages, rounds * kSegments) << ranks << " " << count;
      EXPECT_EQ(sent.bytes, rounds * shard);
      EXPECT_EQ(sent.peers.size(), members + count - 2);
    }
  }
}

// Of three shards, the smaller group's first member owns two. The sums below
// are the messages scattered, exchanged and broadcast.
TEST(MeshTranspose, anOwnerOfSeveralShardsSendsEach) {
  const auto sent = sentBy(onHosts({0, 0, 0, 1, 1}), 3000);
  EXPECT_EQ(sent[0].messages, 2u + 1 + 2);
  EXPECT_EQ(sent[3].messages, 1u + 2 + 2);
  EXPECT_EQ(sent[4].messages, 2u + 1 + 1);
}

}  // namespace
}  // namespace testing
}  // namespace gloo
