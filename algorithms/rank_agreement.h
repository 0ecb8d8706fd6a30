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

// What a rank brings to an allreduce of the class form.
struct RankOffer {
  uint64_t count;
  uint64_t elementSize;
  GroupWish wish;
};

// By which the ranks of a class-form allreduce find out, before its first run,
// whether they bring the same elements. Messages of an unexpected length would
// end the process (Gloo's tcp asserts that they fit, in a thread of its own) or
// leave sums of unlike elements.
//
// Threading: one thread at a time.
class RankAgreement {
 public:
  // Takes two slots of the context.
  RankAgreement(const std::shared_ptr<Context>& context,
                const RankOffer& own,
                std::string algorithm);

  // What all ranks bring, by rank. Throws IoException, on all ranks, which
  // names two ranks whose elements differ, or when a peer fails.
  const std::vector<RankOffer>& run();

  // Returns once all ranks have called it, or rather run() has thrown there.
  // Once, after run().
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
  std::vector<uint8_t> leaving_;   // likewise; says nothing
  std::vector<Peer> peers_;        // in rank order
};

}  // namespace gloo
