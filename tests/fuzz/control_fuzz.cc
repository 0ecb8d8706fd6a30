// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <cstring>

#include "transport_ubt/core/wire/control.h"

// A record that can be decoded must encode to the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  ubt::ReadCursor cursor(bytes, size);
  ubt::ControlClocks clocks;
  if (!ubt::ControlClocks::decode(&cursor, &clocks)) {
    return 0;
  }
  while (cursor.left() > 0) {
    const std::byte* const at = bytes + (size - cursor.left());
    const size_t before = cursor.left();
    ubt::ControlRecord record;
    if (!ubt::ControlRecord::decode(&cursor, &record)) {
      return 0;
    }
    std::byte again[ubt::ControlRecord::kBytesMax];
    ubt::WriteCursor writer(again, sizeof(again));
    record.encode(&writer);
    const size_t read = before - cursor.left();
    if (writer.failed() || writer.used() != read ||
        std::memcmp(at, again, read) != 0) {
      std::abort();
    }
  }
  return 0;
}
