// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <vector>

#include "transport_ubt/bounded/greeting.h"

// A greeting that can be decoded must encode to the same bytes. It is refused
// without a valid proof of its rank. With a proof its fields must be in bounds.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using ubt::Greeting;
  using ubt::Hello;
  const std::vector<uint8_t> bytes(data, data + size);
  Greeting greeting;
  if (!Greeting::decode(bytes, &greeting)) {
    return 0;
  }
  if (greeting.encode() != bytes || greeting.refusal("secret", 1).empty()) {
    std::abort();
  }
  greeting.prove("secret", 1);
  const Hello& hello = greeting.hello;
  if (greeting.refusal("secret", 1).empty() &&
      (hello.port == 0 || hello.slotBytesMax < Hello::kSlotBytesMin ||
       hello.slotBytesMax > Hello::kSlotBytesMost ||
       hello.windowBytes < Hello::kWindowBytesMin ||
       hello.windowBytes > Hello::kWindowBytesMost)) {
    std::abort();
  }
  return 0;
}
