// SPDX-License-Identifier: Apache-2.0
#include "algorithms/rank_agreement.h"

#include <gloo/common/error.h>

#include <utility>

namespace gloo {

RankAgreement::RankAgreement(const std::shared_ptr<Context>& context,
                             const RankOffer& own,
                             std::string algorithm)
    : rank_(context->rank),
      algorithm_(std::move(algorithm)),
      offers_(context->size, own),
      leaving_(context->size) {
  const int offerSlot = context->nextSlot();
  const int leaveSlot = context->nextSlot();
  for (int rank = 0; rank < context->size; rank++) {
    if (rank == rank_) {
      continue;
    }
    auto& pair = context->getPair(rank);
    const size_t offer = sizeof(RankOffer);
    peers_.push_back({rank,
                      pair->createRecvBuffer(offerSlot, &offers_[rank], offer),
                      pair->createSendBuffer(offerSlot, &offers_[rank_], offer),
                      pair->createRecvBuffer(leaveSlot, &leaving_[rank], 1),
                      pair->createSendBuffer(leaveSlot, &leaving_[rank_], 1)});
  }
}

const std::vector<RankOffer>& RankAgreement::run() {
  for (auto& peer : peers_) {
    peer.offerSend->send();
  }
  for (auto& peer : peers_) {
    peer.offerRecv->waitRecv();
    peer.offerSend->waitSend();
  }
  const RankOffer& own = offers_[rank_];
  for (const auto& peer : peers_) {
    const RankOffer& other = offers_[peer.rank];
    if (other.count == own.count && other.elementSize == own.elementSize) {
      continue;
    }
    const auto text = [](const RankOffer& offer) {
      return std::to_string(offer.count) + " elements of " +
             std::to_string(offer.elementSize) + " bytes";
    };
    const std::string why = algorithm_ + " allreduce: rank " +
                            std::to_string(peer.rank) + " brings " +
                            text(other) + ", this rank (" +
                            std::to_string(rank_) + ") " + text(own);
    // If two ranks differ, every rank differs from some rank, so all come here.
    // No rank leaves before all have come, or some would only see closed
    // connections.
    try {
      leave();
    } catch (const ::gloo::IoException&) {
    }
    throw ::gloo::IoException(why);
  }
  return offers_;
}

void RankAgreement::leave() {
  for (auto& peer : peers_) {
    peer.leaveSend->send();
  }
  for (auto& peer : peers_) {
    peer.leaveRecv->waitRecv();
    peer.leaveSend->waitSend();
  }
}

}  // namespace gloo
