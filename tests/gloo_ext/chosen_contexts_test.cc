// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/chosen_contexts.h"

#include <gtest/gtest.h>

#include <new>

namespace gloo_ext {
namespace {

using ContextPtr = std::shared_ptr<gloo::Context>;

constexpr char kToken[] = "0123456789abcdef";

Choice of(ChosenContexts* chosen,
          const ContextPtr& context,
          const std::string& contribution = "something else") {
  return chosen->of(context, contribution.data(), contribution.size());
}

TEST(ChosenContexts, ATokenChoosesForTheContextThatBringsIt) {
  const auto context = std::make_shared<gloo::Context>(0, 2);
  const auto other = std::make_shared<gloo::Context>(0, 2);
  ChosenContexts chosen;
  EXPECT_EQ(of(&chosen, context, kToken), Choice::kDefault);
  chosen.expect(kToken, Choice::kExact);
  EXPECT_EQ(of(&chosen, context), Choice::kDefault);
  EXPECT_EQ(of(&chosen, context, kToken), Choice::kExact);
  EXPECT_EQ(of(&chosen, context), Choice::kExact);
  EXPECT_EQ(of(&chosen, context, std::string(1 << 20, 'x')), Choice::kExact);
  EXPECT_EQ(of(&chosen, other), Choice::kDefault);
}

TEST(ChosenContexts, TheCallThatBringsATokenIsExact) {
  const auto context = std::make_shared<gloo::Context>(0, 2);
  for (const Choice choice :
       {Choice::kBounded, Choice::kDefault, Choice::kExact}) {
    ChosenContexts chosen;
    chosen.expect(kToken, choice);
    EXPECT_EQ(of(&chosen, context, kToken), Choice::kExact);
    EXPECT_EQ(of(&chosen, context), choice);
  }
}

TEST(ChosenContexts, TellOnceWhatATokenReplaced) {
  const auto context = std::make_shared<gloo::Context>(0, 2);
  ChosenContexts chosen;
  EXPECT_EQ(chosen.came(kToken), std::nullopt);
  Choice before = Choice::kDefault;
  for (const Choice choice : {Choice::kExact,
                              Choice::kBounded,
                              Choice::kExact,
                              Choice::kDefault,
                              Choice::kExact}) {
    chosen.expect(kToken, choice);
    of(&chosen, context, kToken);
    EXPECT_EQ(chosen.came(kToken), before);
    EXPECT_EQ(chosen.came(kToken), std::nullopt);
    EXPECT_EQ(of(&chosen, context), choice);
    before = choice;
  }
}

TEST(ChosenContexts, ForgetATokenThatDidNotCome) {
  const auto context = std::make_shared<gloo::Context>(0, 2);
  ChosenContexts chosen;
  chosen.expect(kToken, Choice::kExact);
  EXPECT_EQ(chosen.came(kToken), std::nullopt);
  EXPECT_EQ(of(&chosen, context, kToken), Choice::kDefault);
}

TEST(ChosenContexts, ATokenIsAllOfAContribution) {
  const auto context = std::make_shared<gloo::Context>(0, 2);
  const std::string token = kToken;
  ChosenContexts chosen;
  chosen.expect(token, Choice::kExact);
  EXPECT_EQ(of(&chosen, context, token + "!"), Choice::kDefault);
  EXPECT_EQ(of(&chosen, context, token.substr(1)), Choice::kDefault);
  EXPECT_EQ(chosen.came(token), std::nullopt);
}

TEST(ChosenContexts, ATokenMayHoldAnyBytes) {
  const auto context = std::make_shared<gloo::Context>(0, 2);
  const std::string token(ChosenContexts::kTokenBytesMax, '\0');
  ChosenContexts chosen;
  chosen.expect(token, Choice::kExact);
  EXPECT_EQ(of(&chosen, context, token), Choice::kExact);
  EXPECT_EQ(chosen.came(token), Choice::kDefault);
}

TEST(ChosenContexts, SeveralContextsHaveATokenEach) {
  const auto a = std::make_shared<gloo::Context>(0, 2);
  const auto b = std::make_shared<gloo::Context>(0, 2);
  ChosenContexts chosen;
  chosen.expect("token of context a", Choice::kExact);
  chosen.expect("token of context b", Choice::kExact);
  EXPECT_EQ(of(&chosen, a, "token of context a"), Choice::kExact);
  EXPECT_EQ(chosen.came("token of context b"), std::nullopt);
  EXPECT_EQ(of(&chosen, b), Choice::kDefault);
  EXPECT_EQ(chosen.came("token of context a"), Choice::kDefault);
}

// A new context may have the address of an exact one.
TEST(ChosenContexts, DoNotChooseForTheSuccessorOfADestroyedContext) {
  alignas(gloo::Context) std::byte place[sizeof(gloo::Context)];
  const auto fresh = [&place] {
    return ContextPtr(new (place) gloo::Context(0, 2),
                      [](gloo::Context* context) { context->~Context(); });
  };
  ChosenContexts chosen;
  ContextPtr context = fresh();
  chosen.expect(kToken, Choice::kExact);
  EXPECT_EQ(of(&chosen, context, kToken), Choice::kExact);
  context.reset();
  context = fresh();
  EXPECT_EQ(of(&chosen, context), Choice::kDefault);
  EXPECT_EQ(of(&chosen, context, kToken), Choice::kExact);
}

}  // namespace
}  // namespace gloo_ext
