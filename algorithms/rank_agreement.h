// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>
#include <gloo/transport/buffer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/rank_groups.h"

namespace gloo {

// A rank's elements, and the groups it wants, in a class-form allreduce.
struct RankOffer {
  uint64_t count;
  uint64_t elementSize;
  GroupWish wish;
};

// Checks, before the first run of a class-form allreduce, that all ranks bring
// the same elements. Otherwise messages of an unexpected length would end the
// process (Gloo's tcp asserts, in its own thread, that they fit) or unlike
// elements would be summed.
class RankAgreement {
 public:
  // Takes two slots of the context.
  RankAgreement(const std::shared_ptr<Context>& context,
                const RankOffer& own,
                std::string algorithm);

  // The offers of all ranks, indexed by rank. If elements differ, throws
  // IoException on all ranks, which names two of them. Also throws IoException
  // when a peer fails.
  const std::vector<RankOffer>& run();

  // Returns once run() has thrown, or leave() was called, on all ranks. Call it
  // at most once, after run().
  void leave();

 private:
  using BufferPtr = std::unique_ptr<transport::Buffer>;

  struct Peer {
    int rank;
    BufferPtr offerRecv;  // into offers_
    BufferPtr offerSend;
    BufferPtr leaveRecv;  // into leaving_
    BufferPtr leaveSend;
  };

  const int rank_;
  const std::string algorithm_;
  std::vector<RankOffer> offers_;  // by rank
  std::vector<uint8_t> leaving_;   // by rank; the values mean nothing
  std::vector<Peer> peers_;        // in rank order
};

}  // namespace gloo
