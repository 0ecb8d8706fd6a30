// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/exact_contexts.h"

namespace gloo_ext {

void ExactContexts::expect(const std::string& token) {
  std::lock_guard<std::mutex> lock(mutex_);
  tokens_[token] = false;
  used_ = true;
}

bool ExactContexts::came(const std::string& token) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = tokens_.find(token);
  const bool came = found != tokens_.end() && found->second;
  tokens_.erase(token);
  return came;
}

bool ExactContexts::covers(const std::shared_ptr<gloo::Context>& context,
                           const void* contribution,
                           size_t bytes) {
  if (!used_) {
    return false;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (bytes <= kTokenBytesMax) {
    const auto token = tokens_.find(
        std::string(static_cast<const char*>(contribution), bytes));
    if (token != tokens_.end()) {
      token->second = true;
      contexts_[context.get()] = context;
    }
  }
  const auto known = contexts_.find(context.get());
  // A new context may have the address of a destroyed one.
  if (known != contexts_.end() && known->second.lock() != context) {
    contexts_.erase(known);
    return false;
  }
  return known != contexts_.end();
}

}  // namespace gloo_ext
