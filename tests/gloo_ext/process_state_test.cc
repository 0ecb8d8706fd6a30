// SPDX-License-Identifier: Apache-2.0
//
// Code that is expected to exit runs in a process that gtest forks.
#include "gloo_ext/process_state.h"

#include <gloo/context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "tests/gloo_ext/bounded_ops.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temporary_directory.h"

namespace gloo_ext {
namespace {

using ::testing::Eq;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr unsigned int kChildSecondsMax = 30;

void addOps(int count) {
  for (int i = 0; i < count; i++) {
    ProcessState::instance().recorder().add(boundedOp(2));
  }
}

uint64_t boundedOps() {
  return ProcessState::instance().recorder().statistics().totals().boundedOps;
}

// Ends like a program that has finished its work.
template <typename Body>
[[noreturn]] void endAfter(const Body& body) {
  alarm(kChildSecondsMax);
  body();
  std::exit(0);
}

class ProcessStateTest : public ::testing::Test {
 private:
  const test::EnvironmentVariable rank_{"RANK", "0"};
  const test::EnvironmentVariable report_{"GLOO_UBT_REPORT", nullptr};
  const test::EnvironmentVariable interface_{"GLOO_SOCKET_IFNAME", "lo"};
};

TEST_F(ProcessStateTest, IsOneForAllThreads) {
  EXPECT_EXIT(endAfter([] {
                std::vector<std::thread> threads;
                threads.reserve(8);
                for (int i = 0; i < 8; i++) {
                  threads.emplace_back([] { addOps(10); });
                }
                for (std::thread& thread : threads) {
                  thread.join();
                }
              }),
              ExitedWithCode(0),
              HasSubstr("optireduce: 80 ops"));
}

TEST_F(ProcessStateTest, MetricsHaveTheLaunchersJob) {
  const test::TemporaryDirectory folder;
  const test::EnvironmentVariable metrics("GLOO_UBT_METRICS",
                                          folder.path().c_str());
  for (const auto& [run, file] : {std::pair("none", "/7-rank0.prom"),
                                  std::pair("mine", "/mine-rank0.prom")}) {
    const test::EnvironmentVariable torchrun("TORCHELASTIC_RUN_ID", run);
    const test::EnvironmentVariable openMpi("PMIX_NAMESPACE", "7");
    EXPECT_EXIT(endAfter([] { addOps(1); }), ExitedWithCode(0), "1 ops");
    EXPECT_TRUE(std::filesystem::exists(folder.path() + file)) << file;
  }
}

TEST_F(ProcessStateTest, AForkedChildBeginsAnew) {
  addOps(5);
  EXPECT_EXIT(endAfter([] {
                if (boundedOps() != 0) {
                  std::_Exit(1);
                }
                addOps(2);
              }),
              ExitedWithCode(0),
              HasSubstr("optireduce: 2 ops"));
  EXPECT_EQ(boundedOps(), 5u);
}

TEST_F(ProcessStateTest, AForkedChildThatAsksNothingSaysNothing) {
  addOps(1);
  EXPECT_EXIT(endAfter([] {}), ExitedWithCode(0), Eq(""));
}

TEST_F(ProcessStateTest, AForkedChildEndsWithoutItsParentsThreads) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer ends a child that starts a thread";
#endif
  const auto context = std::make_shared<gloo::Context>(0, 1);
  const ubt::Mesh mesh{0, 1, nullptr};
  const auto bounded = ProcessState::instance().contexts().of(context, mesh);
  EXPECT_EXIT(
      endAfter([&] {
        if (ProcessState::instance().contexts().of(context, mesh) == bounded) {
          std::_Exit(1);
        }
      }),
      ExitedWithCode(0),
      Not(HasSubstr("optireduce")));
  EXPECT_EQ(ProcessState::instance().contexts().of(context, mesh), bounded);
}

}  // namespace
}  // namespace gloo_ext
