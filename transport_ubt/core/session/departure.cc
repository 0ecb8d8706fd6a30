// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/departure.h"

#include <exception>
#include <utility>

#include "transport_ubt/core/base/require.h"

namespace ubt {

bool Departure::fail(const std::string& why) {
  UBT_REQUIRE(!why.empty());
  if (hasFailed()) {
    return false;
  }
  why_ = why;
  return true;
}

void Departure::failWithout(const char* why, std::string* spare) noexcept {
  if (hasFailed()) {
    return;
  }
  try {
    why_ = why;
  } catch (const std::exception&) {
    why_ = std::move(*spare);
  }
}

ControlRecord Departure::leaveRecord() const {
  ControlRecord leave;
  leave.type = ControlType::kLeave;
  leave.slot =
      culprit_ < 0 ? ControlRecord::kNobody : static_cast<uint32_t>(culprit_);
  return leave;
}

}  // namespace ubt
