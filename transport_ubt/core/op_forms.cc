// SPDX-License-Identifier: Apache-2.0
//
// In which form an op contributes each shard, and how its result becomes plain.

#include "transport_ubt/core/op.h"
#include "transport_ubt/core/splitmix64.h"

namespace ubt {

uint64_t Op::seedOf(const OpId& id, int shard) {
  const uint64_t op = uint64_t{id.tag} << 32 | id.count;
  const uint64_t place =
      static_cast<uint64_t>(shard) << 1 | static_cast<uint64_t>(id.space);
  return mixed(mixed(op) + place);
}

void Op::contribute(Form form) {
  if (form == Form::kPlain || bounds_.warmup || ranks_.grouped()) {
    return;
  }
  const size_t elementBytes = elementSize(setup_.shape.type);
  for (int shard = 0; shard < ranks_.members(); shard++) {
    if (setup_.reduction->transform(setup_.shape.type,
                                    bucket_ + layout_.shardOffset(shard),
                                    layout_.shardSize(shard) / elementBytes,
                                    seedOf(setup_.id, shard),
                                    setup_.size)) {
      contributed_[shard] = Form::kTransformed;
    }
  }
}

// Of a shard of which nothing came, the own contribution filled all.
Form Op::resultForm(int shard) const {
  return shard == ranks_.place()
             ? scatter_.form()
             : broadcast_.form(shard).value_or(contributed_[shard]);
}

// Makes the bucket's part plain.
void Op::invert(int shard, Form form) {
  if (form == Form::kTransformed) {
    setup_.reduction->inverse(
        setup_.shape.type,
        bucket_ + layout_.shardOffset(shard),
        layout_.shardSize(shard) / elementSize(setup_.shape.type),
        seedOf(setup_.id, shard));
  }
}

}  // namespace ubt
