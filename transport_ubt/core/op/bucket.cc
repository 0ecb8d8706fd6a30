// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/bucket.h"

namespace ubt {

Bucket::Bucket(const ShardLayout& layout, const Setup& setup)
    : layout_(layout),
      setup_(setup),
      contributed_(setup.shards, Form::kPlain),
      states_(setup.shards, State::kAsBrought) {}

void Bucket::enter(std::byte* data, Form form) {
  data_ = data;
  form_ = form;
}

void Bucket::contribute(Shard shard) {
  if (form_ == Form::kPlain || states_[shard] != State::kAsBrought) {
    return;
  }
  states_[shard] = State::kContribution;
  if (setup_.reduction->transform(setup_.type,
                                  this->shard(shard),
                                  elements(shard),
                                  transformSeed(setup_.id, shard),
                                  setup_.ranks)) {
    contributed_[shard] = Form::kTransformed;
  }
}

void Bucket::invert(Shard shard, Form form) {
  if (states_[shard] != State::kPlainResult && form == Form::kTransformed) {
    setup_.reduction->inverse(setup_.type,
                              this->shard(shard),
                              elements(shard),
                              transformSeed(setup_.id, shard));
  }
  states_[shard] = State::kPlainResult;
}

}  // namespace ubt
