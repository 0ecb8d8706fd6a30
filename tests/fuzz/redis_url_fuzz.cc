// SPDX-License-Identifier: Apache-2.0
//
// Any text is either a URL or refused.
#include <gloo/common/error.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "rendezvous/redis_url.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using gloo::rendezvous::RedisUrl;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* scheme : {"", "redis://", "unix://"}) {
    try {
      const auto url = RedisUrl::parse(scheme + text);
      if (url.host.empty() == url.unixPath.empty() || url.port < 1) {
        std::abort();
      }
    } catch (const gloo::InvalidOperationException&) {
    }
  }
  return 0;
}
