// SPDX-License-Identifier: Apache-2.0
//
// Tests of forked children of a process with devices and contexts.

#include <gloo/common/error.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <thread>

#include "tests/conformance/local_ranks.h"
#include "tests/integration/bounded_sums.h"

namespace {

bool isForkedChild = false;

}  // namespace

#ifdef __SANITIZE_ADDRESS__
// In a forked child, memory held only by the parent's other threads is no leak.
extern "C" int __lsan_is_turned_off() {  // NOLINT(bugprone-reserved-identifier)
  return isForkedChild ? 1 : 0;
}
#endif

namespace gloo {
namespace {

using testing::allreduces;
using testing::device;
using testing::LocalRanks;
using ContextPtr = LocalRanks::ContextPtr;

class Forked : public ::testing::Test {
 protected:
  Forked() : mesh_(new LocalRanks({"ubt", device}, 3)) {}

  void sumInParent() {
    EXPECT_EQ(mesh_->run(
                  [](const ContextPtr& context) { allreduces(context, 1, 3); }),
              "");
  }

  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer ends a child that starts a thread";
#endif
  }

  // The exit status of a forked child that runs `body` and then exit().
  static int childAfter(const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
      isForkedChild = true;
      alarm(30);
      try {
        body();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
        std::exit(1);
      }
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  std::unique_ptr<LocalRanks> mesh_;
};

TEST_F(Forked, AChildDestroysContextsAndDevicesWithoutHarm) {
  sumInParent();
  EXPECT_EQ(childAfter([this] { mesh_.reset(); }), 0);
  sumInParent();
  EXPECT_EQ(childAfter([this] { mesh_.reset(); }), 0);
  sumInParent();
}

TEST_F(Forked, AChildThatNeverSummedDoesSoWithoutHarm) {
  EXPECT_EQ(childAfter([this] { mesh_.reset(); }), 0);
  sumInParent();
}

TEST_F(Forked, AChildsAllreduceThrowsAndTakesNothingOfTheParents) {
  for (int round = 0; round < 2; round++) {  // before and after a first sum
    EXPECT_EQ(childAfter([this] {
                const std::string error =
                    mesh_->run([](const ContextPtr& context) {
                      allreduces(context, 1, 1);
                    });
                if (error.find("create a new device and new contexts") ==
                    std::string::npos) {
                  throw std::runtime_error("threw: " + error);
                }
              }),
              0);
    sumInParent();
  }
}

TEST_F(Forked, AChildCreatesNoContextOnAParentsDevice) {
  const auto parents = device();
  EXPECT_EQ(childAfter([&] {
              EXPECT_FALSE(parents->str().empty());
              try {
                parents->createContext(0, 2);
              } catch (const InvalidOperationException&) {
                return;
              }
              throw std::runtime_error("it has");
            }),
            0);
}

// A child's own devices work, in addition to the inherited ones.
TEST_F(Forked, AChildSumsOnDevicesOfItsOwn) {
  sumInParent();
  EXPECT_EQ(childAfter([this] {
              LocalRanks own({"ubt", device}, 2);
              const std::string error = own.run(
                  [](const ContextPtr& context) { allreduces(context, 1, 3); });
              mesh_.reset();
              if (!error.empty()) {
                throw std::runtime_error(error);
              }
            }),
            0);
  sumInParent();
}

// The child lives only while the parent's allreduces run.
TEST_F(Forked, AChildTakesNoDatagramOfAnAllreduceThatGoesOn) {
  sumInParent();
  std::atomic<bool> over{false};
  std::thread parent([&] {
    EXPECT_EQ(mesh_->run([&](const ContextPtr& context) {
      for (int op = 0; op < 20; op++) {
        allreduces(context, 2, 5);
      }
    }),
              "");
    over = true;
  });
  do {
    EXPECT_EQ(childAfter([this] { mesh_.reset(); }), 0);
  } while (!over);
  parent.join();
}

}  // namespace
}  // namespace gloo
