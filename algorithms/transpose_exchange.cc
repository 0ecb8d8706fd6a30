// SPDX-License-Identifier: Apache-2.0
#include "algorithms/transpose_exchange.h"

#include <gloo/common/error.h>
#include <gloo/common/logging.h>

#include <utility>
#include <vector>

namespace gloo {

TransposeExchange::TransposeExchange(const std::shared_ptr<Context>& context,
                                     TransposeElements elements)
    : context_(context), slots_(TransposeEngine::Slots::take(*context)) {
  const RankOffer own = {elements.count, elements.elementSize, {}};
  agreement_ = std::make_unique<RankAgreement>(context, own, "transpose");
  engine_ = std::make_unique<TransposeEngine>(
      context, std::move(elements), RankGroups::single(context->size), slots_);
}

TransposeExchange::TransposeExchange(const std::shared_ptr<Context>& context,
                                     TransposeElements elements,
                                     const GroupWish& wish)
    : context_(context),
      slots_(TransposeEngine::Slots::take(*context)),
      elements_(std::move(elements)) {
  GLOO_ENFORCE(!elements_.pointers.empty(), "no buffer to reduce");
  const RankOffer own = {elements_.count, elements_.elementSize, wish};
  agreement_ =
      std::make_unique<RankAgreement>(context, own, "hierarchical transpose");
}

void TransposeExchange::run() {
  if (agreement_ != nullptr) {
    agree();
  }
  engine_->run();
}

void TransposeExchange::agree() {
  const std::vector<RankOffer>& offers = agreement_->run();
  if (engine_ == nullptr) {
    std::vector<GroupWish> wishes;
    wishes.reserve(offers.size());
    for (const auto& offer : offers) {
      wishes.push_back(offer.wish);
    }
    // No rank sends before all can receive, or leaves before all know the
    // error.
    try {
      engine_ = std::make_unique<TransposeEngine>(
          context_, std::move(elements_), agreedGroups(wishes), slots_);
    } catch (const ::gloo::Exception&) {
      try {
        agreement_->leave();
      } catch (const ::gloo::IoException&) {
      }
      throw;
    }
    agreement_->leave();
  }
  agreement_.reset();
}

}  // namespace gloo
