// SPDX-License-Identifier: Apache-2.0

#include <gloo/common/error.h>

#include <cstdlib>
#include <string>

#include "rendezvous/redis_url.h"

// A password must never show up in what is said about a URL.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(data, data + size);
  try {
    const auto url = gloo::rendezvous::RedisUrl::parse(text);
    if (url.port < 1 || url.port > 65535 || url.display().empty()) {
      std::abort();
    }
  } catch (const gloo::InvalidOperationException&) {
  }
  return 0;
}
