// SPDX-License-Identifier: Apache-2.0

#include <gloo/common/error.h>

#include <cstdlib>
#include <vector>

#include "transport_ubt/address.h"

// A peer's address, as it comes out of the store.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> bytes(data, data + size);
  try {
    const gloo::transport::ubt::Address address(bytes);
    if (address.bytes() != bytes) {
      std::abort();
    }
    address.check("secret", 1);
    std::abort();  // nobody has proven it
  } catch (const gloo::IoException&) {
  }
  return 0;
}
