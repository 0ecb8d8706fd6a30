// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace gloo_ext {

// Whether sums on a context may be bounded.
enum class Choice {
  kExact,
  kBounded,
  kDefault,  // the user did not choose
};

// The contexts whose user chose. A user has no handle of a context and can only
// start an allreduce on it, which runs in another thread. So the user announces
// a token with expect() and then contributes that token to one call. Any thread
// may call any function.
class ChosenContexts {
 public:
  static constexpr size_t kTokenBytesMin = 16;
  static constexpr size_t kTokenBytesMax = 4096;

  void expect(const std::string& token, Choice choice);
  // Forgets the token. Returns the choice that it replaced; nullopt: no call
  // contributed the token.
  std::optional<Choice> came(const std::string& token);

  // The choice that holds for a call on the context. A contribution that is an
  // expected token sets the context's choice; that call itself is exact.
  Choice of(const std::shared_ptr<gloo::Context>& context,
            const void* contribution,
            size_t bytes);

 private:
  struct Token {
    Choice choice;
    std::optional<Choice> replaced;  // once it came
  };
  struct Chosen {
    std::weak_ptr<gloo::Context> context;
    Choice choice;
  };

  Choice known(const std::shared_ptr<gloo::Context>& context);

  std::mutex mutex_;
  std::atomic<bool> used_{false};  // lets of() skip the lock
  std::map<std::string, Token> tokens_;
  std::map<const gloo::Context*, Chosen> contexts_;
};

}  // namespace gloo_ext
