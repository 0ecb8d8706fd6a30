// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/message_tail.h"

#include <cmath>

#include "transport_ubt/core/op/shard_layout.h"

namespace ubt {

bool MessageTail::holds(const Context& context,
                        int peer,
                        const PacketHeader& header) {
  if (share_ <= 0 || header.type != PacketType::kData || header.hierarchical) {
    return false;
  }
  const Key key{context.epoch, header.op};
  if (header.stage == Stage::kScatter &&
      elements_.emplace(key, header.elements).second) {
    oldestFirst_.push_back(key);
    if (oldestFirst_.size() > kOpsMax) {
      elements_.erase(oldestFirst_.front());
      oldestFirst_.pop_front();
    }
  }
  const auto found = elements_.find(key);
  if (header.repair || found == elements_.end()) {
    return false;
  }
  OpShape shape;
  shape.elements = found->second;
  shape.type = header.elementType;
  const uint32_t slots =
      ShardLayout(shape, context.size, context.slotBytesMax)
          .slots(Shard(header.stage == Stage::kScatter ? peer : context.rank));
  const auto lost = static_cast<uint32_t>(std::lround(share_ * slots));
  return header.slot + lost >= slots;
}

}  // namespace ubt
