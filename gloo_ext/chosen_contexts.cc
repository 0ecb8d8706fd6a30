// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/chosen_contexts.h"

namespace gloo_ext {

void ChosenContexts::expect(const std::string& token, Choice choice) {
  std::lock_guard<std::mutex> lock(mutex_);
  tokens_[token] = {choice, std::nullopt};
  used_ = true;
}

std::optional<Choice> ChosenContexts::came(const std::string& token) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = tokens_.find(token);
  if (found == tokens_.end()) {
    return std::nullopt;
  }
  const std::optional<Choice> replaced = found->second.replaced;
  tokens_.erase(found);
  return replaced;
}

Choice ChosenContexts::known(const std::shared_ptr<gloo::Context>& context) {
  const auto found = contexts_.find(context.get());
  if (found == contexts_.end()) {
    return Choice::kDefault;
  }
  // A new context may have the address of a destroyed one.
  if (found->second.context.lock() != context) {
    contexts_.erase(found);
    return Choice::kDefault;
  }
  return found->second.choice;
}

Choice ChosenContexts::of(const std::shared_ptr<gloo::Context>& context,
                          const void* contribution,
                          size_t bytes) {
  if (!used_) {
    return Choice::kDefault;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const Choice choice = known(context);
  if (bytes > kTokenBytesMax) {
    return choice;
  }
  const auto found =
      tokens_.find(std::string(static_cast<const char*>(contribution), bytes));
  if (found == tokens_.end()) {
    return choice;
  }
  found->second.replaced = choice;
  contexts_[context.get()] = {context, found->second.choice};
  return Choice::kExact;
}

}  // namespace gloo_ext
