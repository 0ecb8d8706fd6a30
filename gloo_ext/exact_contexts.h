// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace gloo_ext {

// The contexts whose user wants every sum to be exact. A user has no handle of
// a context and can only start an allreduce on it, which runs in another
// thread. So the user announces a token with expect() and then contributes that
// token to one call. Any thread may call any function.
class ExactContexts {
 public:
  static constexpr size_t kTokenBytesMin = 16;
  static constexpr size_t kTokenBytesMax = 4096;

  void expect(const std::string& token);
  // Forgets the token. Returns whether a call contributed it.
  bool came(const std::string& token);

  // Whether the context is exact. It becomes so when a contribution is an
  // expected token.
  bool covers(const std::shared_ptr<gloo::Context>& context,
              const void* contribution,
              size_t bytes);

 private:
  std::mutex mutex_;
  std::atomic<bool> used_{false};       // lets covers() skip the lock
  std::map<std::string, bool> tokens_;  // and whether each came
  std::map<const gloo::Context*, std::weak_ptr<gloo::Context>> contexts_;
};

}  // namespace gloo_ext
