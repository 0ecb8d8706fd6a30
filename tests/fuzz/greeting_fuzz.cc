// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <vector>

#include "gloo_ext/greeting.h"

// What decodes says the same again once it has been encoded.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using gloo_ext::Greeting;
  Greeting greeting;
  if (!Greeting::decode(std::vector<uint8_t>(data, data + size), &greeting)) {
    return 0;
  }
  Greeting again;
  const std::vector<uint8_t> bytes = greeting.encode();
  if (!Greeting::decode(bytes, &again) || again.encode() != bytes ||
      again.address.str() != greeting.address.str()) {
    std::abort();
  }
  return 0;
}
