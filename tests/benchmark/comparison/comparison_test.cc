// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/comparison.h"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace gloo {
namespace compare {
namespace {

using namespace std::chrono_literals;

// Alone, the sum is what was brought. Writes its name down for every run.
class Recorded : public AllreduceUnderTest {
 public:
  Recorded(char name, std::chrono::milliseconds takes, std::string* runs)
      : name_(name), takes_(takes), runs_(runs) {}
  void run() override {
    runs_->push_back(name_);
    const auto end = std::chrono::steady_clock::now() + takes_;
    while (std::chrono::steady_clock::now() < end) {
    }
  }

 private:
  const char name_;
  const std::chrono::milliseconds takes_;
  std::string* const runs_;
};

class ComparisonTest : public ::testing::Test {
 protected:
  ComparisonTest() {
    auto context = std::make_shared<rendezvous::Context>(0, 1);
    rendezvous::HashStore store;
    auto device = transport::tcp::CreateDevice("127.0.0.1");
    context->connectFullMesh(store, device);
    context_ = context;
  }

  Contender contender(char name, std::chrono::milliseconds takes) {
    AlgorithmSpec spec{};
    spec.name = name;
    spec.warmupRuns = 0;
    spec.create = [=](const std::shared_ptr<Context>&, float*, size_t) {
      return std::make_unique<Recorded>(name, takes, &runs_);
    };
    return {spec, context_};
  }

  std::shared_ptr<Context> context_;
  std::string runs_;
};

TEST_F(ComparisonTest, TakesTurns) {
  ControlChannel control(context_);
  const std::vector<Contender> contenders = {contender('A', 0ms),
                                             contender('B', 0ms)};
  Comparison comparison(control, contenders, 10, {});
  comparison.run(0s, [](const Comparison::Progress&) {});
  runs_.erase(std::unique(runs_.begin(), runs_.end()), runs_.end());
  // Once in warm-up, then at least three rounds.
  EXPECT_EQ(0u, runs_.find("ABABABAB")) << runs_;
}

TEST_F(ComparisonTest, GivesAllTheSameTime) {
  ControlChannel control(context_);
  const std::vector<Contender> contenders = {contender('A', 0ms),
                                             contender('B', 20ms)};
  Comparison comparison(control, contenders, 10, {});
  const auto measured =
      comparison.run(500ms, [](const Comparison::Progress&) {});
  EXPECT_GT(measured[0].slowestUs.size(), 2 * measured[1].slowestUs.size());
  EXPECT_TRUE(measured[0].verified);
}

}  // namespace
}  // namespace compare
}  // namespace gloo
