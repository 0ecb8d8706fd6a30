// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/reduction.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// The caller's bucket while its call is in the op. Each shard is as the caller
// brought it, then in the form in which it is contributed, then the result.
class Bucket {
 public:
  struct Setup {
    OpId id;
    ElementType type = ElementType::kFloat32;
    int shards = 1;
    int ranks = 1;                         // of the op, who all contribute
    const Reduction* reduction = nullptr;  // outlives this
  };

  Bucket(const ShardLayout& layout, const Setup& setup);

  // The caller lends `data` until leave(). Shards that can be transformed are
  // contributed in `form`.
  void enter(std::byte* data, Form form);
  void leave() { data_ = nullptr; }
  bool here() const { return data_ != nullptr; }

  // Null before enter() and after leave().
  std::byte* data() const { return data_; }
  // REQUIRES here().
  std::byte* shard(int shard) const {
    return data_ + layout_.shardOffset(shard);
  }

  // Gives a shard the form in which it is contributed, if it has not got it:
  // before any of it is sent, and before results take its place. (To transform
  // all of a bucket at once would keep links idle meanwhile.) REQUIRES here().
  void contribute(int shard);
  // In which form each shard is contributed; plain before contribute().
  const std::vector<Form>& contributed() const { return contributed_; }

  // Makes a shard plain, if it is not: all of its result has come or was filled
  // in, in `form`. REQUIRES here().
  void invert(int shard, Form form);

 private:
  enum class State : uint8_t { kAsBrought, kContribution, kPlainResult };

  size_t elements(int shard) const {
    return layout_.shardSize(shard) / elementSize(setup_.type);
  }

  const ShardLayout layout_;
  const Setup setup_;
  std::byte* data_ = nullptr;
  Form form_ = Form::kPlain;
  std::vector<Form> contributed_;  // by shard, as the rest
  std::vector<State> states_;
};

}  // namespace ubt
