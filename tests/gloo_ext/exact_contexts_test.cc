// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/exact_contexts.h"

#include <gtest/gtest.h>

#include <new>

namespace gloo_ext {
namespace {

using ContextPtr = std::shared_ptr<gloo::Context>;

constexpr char kToken[] = "0123456789abcdef";

bool covers(ExactContexts* exact,
            const ContextPtr& context,
            const std::string& contribution) {
  return exact->covers(context, contribution.data(), contribution.size());
}

TEST(ExactContexts, CoverTheContextThatBringsATokenFromThenOn) {
  const auto context = std::make_shared<gloo::Context>(0, 2);
  const auto other = std::make_shared<gloo::Context>(0, 2);
  ExactContexts exact;
  EXPECT_FALSE(covers(&exact, context, kToken));
  exact.expect(kToken);
  EXPECT_FALSE(covers(&exact, context, "something else"));
  EXPECT_TRUE(covers(&exact, context, kToken));
  EXPECT_TRUE(covers(&exact, context, "something else"));
  EXPECT_TRUE(covers(&exact, context, std::string(1 << 20, 'x')));
  EXPECT_FALSE(covers(&exact, other, "something else"));
}

TEST(ExactContexts, TellOnceWhetherATokenCame) {
  const auto context = std::make_shared<gloo::Context>(0, 2);
  ExactContexts exact;
  EXPECT_FALSE(exact.came(kToken));
  exact.expect(kToken);
  covers(&exact, context, kToken);
  EXPECT_TRUE(exact.came(kToken));
  EXPECT_FALSE(exact.came(kToken));
  EXPECT_TRUE(covers(&exact, context, "something else"));
}

TEST(ExactContexts, ForgetATokenThatDidNotCome) {
  const auto context = std::make_shared<gloo::Context>(0, 2);
  ExactContexts exact;
  exact.expect(kToken);
  EXPECT_FALSE(exact.came(kToken));
  EXPECT_FALSE(covers(&exact, context, kToken));
}

TEST(ExactContexts, ATokenIsAllOfAContribution) {
  const auto context = std::make_shared<gloo::Context>(0, 2);
  const std::string token = kToken;
  ExactContexts exact;
  exact.expect(token);
  EXPECT_FALSE(covers(&exact, context, token + "!"));
  EXPECT_FALSE(covers(&exact, context, token.substr(1)));
  EXPECT_FALSE(exact.came(token));
}

TEST(ExactContexts, ATokenMayHoldAnyBytes) {
  const auto context = std::make_shared<gloo::Context>(0, 2);
  const std::string token(ExactContexts::kTokenBytesMax, '\0');
  ExactContexts exact;
  exact.expect(token);
  EXPECT_TRUE(covers(&exact, context, token));
  EXPECT_TRUE(exact.came(token));
}

TEST(ExactContexts, SeveralContextsHaveATokenEach) {
  const auto a = std::make_shared<gloo::Context>(0, 2);
  const auto b = std::make_shared<gloo::Context>(0, 2);
  ExactContexts exact;
  exact.expect("token of context a");
  exact.expect("token of context b");
  EXPECT_TRUE(covers(&exact, a, "token of context a"));
  EXPECT_FALSE(exact.came("token of context b"));
  EXPECT_FALSE(covers(&exact, b, ""));
  EXPECT_TRUE(exact.came("token of context a"));
}

// A new context may have the address of an exact one.
TEST(ExactContexts, DoNotCoverTheSuccessorOfADestroyedContext) {
  alignas(gloo::Context) std::byte place[sizeof(gloo::Context)];
  const auto fresh = [&place] {
    return ContextPtr(new (place) gloo::Context(0, 2),
                      [](gloo::Context* context) { context->~Context(); });
  };
  ExactContexts exact;
  ContextPtr context = fresh();
  exact.expect(kToken);
  EXPECT_TRUE(covers(&exact, context, kToken));
  context.reset();
  context = fresh();
  EXPECT_FALSE(covers(&exact, context, "something else"));
  EXPECT_TRUE(covers(&exact, context, kToken));
}

}  // namespace
}  // namespace gloo_ext
