// SPDX-License-Identifier: Apache-2.0

#include <gloo/common/error.h>

#include <cstdlib>
#include <vector>

#include "transport_ubt/address.h"

// The input is a peer's address from the store.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> bytes(data, data + size);
  try {
    const gloo::transport::ubt::Address address(bytes);
    if (address.bytes() != bytes) {
      std::abort();
    }
    address.check("secret", 1);
    std::abort();  // no input holds a valid proof
  } catch (const gloo::IoException&) {
  }
  return 0;
}
