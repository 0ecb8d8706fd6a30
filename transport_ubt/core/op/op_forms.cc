// SPDX-License-Identifier: Apache-2.0
//
// In which form an op contributes each shard, and how its result becomes plain.

#include "transport_ubt/core/base/splitmix64.h"
#include "transport_ubt/core/op/op.h"

namespace ubt {

uint64_t Op::seedOf(const OpId& id, int shard) {
  const uint64_t op = uint64_t{id.tag} << 32 | id.count;
  const uint64_t place =
      static_cast<uint64_t>(shard) << 1 | static_cast<uint64_t>(id.space);
  return mixed(mixed(op) + place);
}

// Gives the bucket's part the form it is contributed in, if it has not got it:
// before any of it is sent, and before results take its place. To transform all
// of a bucket at once would keep links idle meanwhile.
void Op::contribute(int shard) {
  // Where ranks form groups, and shards have several owners, all is plain.
  Part& part = peers_[shard].part;
  if (form_ == Form::kPlain || part != Part::kAsBrought) {
    return;
  }
  part = Part::kContribution;
  if (setup_.reduction->transform(
          setup_.shape.type,
          bucket_ + layout_.shardOffset(shard),
          layout_.shardSize(shard) / elementSize(setup_.shape.type),
          seedOf(setup_.id, shard),
          setup_.size)) {
    contributed_[shard] = Form::kTransformed;
  }
}

// Of a shard of which nothing came, the own contribution filled all.
Form Op::resultForm(int shard) const {
  return shard == ranks_.place()
             ? scatter_.form()
             : broadcast_.form(shard).value_or(contributed_[shard]);
}

// Makes the bucket's part plain, if it is not. All of it has come, or was
// filled in.
void Op::invert(int shard) {
  Part& part = peers_[shard].part;
  if (part != Part::kPlainResult && resultForm(shard) == Form::kTransformed) {
    setup_.reduction->inverse(
        setup_.shape.type,
        bucket_ + layout_.shardOffset(shard),
        layout_.shardSize(shard) / elementSize(setup_.shape.type),
        seedOf(setup_.id, shard));
  }
  part = Part::kPlainResult;
}

}  // namespace ubt
