// SPDX-License-Identifier: Apache-2.0
//
// Plain Gloo programs, several processes of each, over Gloo's tcp and over ubt.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/support/child_process.h"
#include "tests/support/redis_server.h"
#include "tests/support/temporary_directory.h"

namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr std::chrono::seconds kLimit{60};

struct Case {
  std::string transport;
  int ranks;
};

class Programs : public ::testing::TestWithParam<Case> {
 protected:
  // Runs a process of the program for each rank.
  void run(const std::string& program, const Words& arguments) {
    const auto& [transport, ranks] = GetParam();
    test::TemporaryDirectory directory;
    const auto path = [&](int rank) {
      return directory.path() + "/" + std::to_string(rank);
    };
    std::vector<std::unique_ptr<test::ChildProcess>> processes;
    for (int rank = 0; rank < ranks; rank++) {
      Words command{std::string(std::getenv("PROGRAMS")) + "/" + program + "_" +
                        transport,
                    std::to_string(rank),
                    std::to_string(ranks)};
      command.insert(command.end(), arguments.begin(), arguments.end());
      processes.push_back(
          std::make_unique<test::ChildProcess>(command, path(rank)));
    }
    for (int rank = 0; rank < ranks; rank++) {
      const int status = processes[rank]->wait(kLimit).value_or(-1);
      std::stringstream output;
      output << std::ifstream(path(rank)).rdbuf();
      EXPECT_EQ(status, 0) << output.str();
      EXPECT_THAT(
          output.str(),
          HasSubstr(transport == "ubt" ? "done by ubt, tcp" : "done by tcp"));
    }
  }
};

TEST_P(Programs, ThroughFiles) {
  test::TemporaryDirectory directory;
  run("through_files", {directory.path()});
}

TEST_P(Programs, ThroughRedis) {
  test::RedisServer server;
  run("through_redis", {"127.0.0.1", std::to_string(server.port())});
}

INSTANTIATE_TEST_SUITE_P(Each,
                         Programs,
                         ::testing::Values(Case{"tcp", 2},
                                           Case{"tcp", 4},
                                           Case{"ubt", 2},
                                           Case{"ubt", 4}),
                         [](const auto& i) {
                           return i.param.transport +
                                  std::to_string(i.param.ranks);
                         });

}  // namespace
