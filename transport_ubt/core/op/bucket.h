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

// The caller's bucket during its call. Each shard holds first the caller's
// data, then the contribution (which may be transformed), then the result.
class Bucket {
 public:
  struct Setup {
    OpId id;
    ElementType type = ElementType::kFloat32;
    int shards = 1;
    int ranks = 1;                         // of the op
    const Reduction* reduction = nullptr;  // outlives this
  };

  Bucket(const ShardLayout& layout, const Setup& setup);

  // The caller lends `data` until leave(). `form`: of the contributions; shards
  // that cannot be transformed stay plain.
  void enter(std::byte* data, Form form);
  void leave() { data_ = nullptr; }
  bool here() const { return data_ != nullptr; }

  // Null before enter() and after leave().
  std::byte* data() const { return data_; }
  // REQUIRES here().
  std::byte* shard(Shard shard) const {
    return data_ + layout_.shardOffset(shard);
  }

  // Transforms a shard, if it should be and has not been. Call it before a slot
  // of the shard is sent, and before a result overwrites one. (To transform the
  // whole bucket at once would leave the links idle.) REQUIRES here().
  void contribute(Shard shard);
  // By shard: the form of its contribution; plain before contribute().
  const std::vector<Form>& contributed() const { return contributed_; }

  // Makes the result of a shard plain, if it is not. `form`: of the result. Its
  // slots have all arrived or hold zeros. REQUIRES here().
  void invert(Shard shard, Form form);

 private:
  enum class State : uint8_t { kAsBrought, kContribution, kPlainResult };

  size_t elements(Shard shard) const {
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
