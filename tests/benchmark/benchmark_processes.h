// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"

namespace gloo {
namespace benchmark {

// Runs the benchmark binary, one process for each rank.
class BenchmarkProcessTest : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;

  // Generous, for busy machines.
  static constexpr std::chrono::seconds kLimit{60};

  struct Result {
    int status;
    std::string output;
  };

  // Returns the ranks' results in rank order.
  std::vector<Result> run(int ranks, const Words& arguments) {
    std::vector<std::unique_ptr<test::ChildProcess>> processes;
    for (int rank = 0; rank < ranks; rank++) {
      Words command{std::getenv("BENCHMARK"),
                    "--size",
                    std::to_string(ranks),
                    "--rank",
                    std::to_string(rank),
                    "--tcp-device",
                    "lo"};
      command.insert(command.end(), arguments.begin(), arguments.end());
      processes.push_back(std::make_unique<test::ChildProcess>(
          command, outputPath(runs_, rank)));
    }
    std::vector<Result> results;
    for (int rank = 0; rank < ranks; rank++) {
      const int status =
          processes[static_cast<size_t>(rank)]->wait(kLimit).value_or(-1);
      std::stringstream output;
      output << std::ifstream(outputPath(runs_, rank)).rdbuf();
      results.push_back({status, output.str()});
    }
    runs_++;
    return results;
  }

  // As run(); ranks meet through files.
  std::vector<Result> runThroughFiles(int ranks, Words arguments) {
    const auto path = directory_.path() + "/shared";
    std::filesystem::create_directory(path);
    arguments.insert(arguments.begin(), {"--shared-path", path});
    auto results = run(ranks, arguments);
    EXPECT_TRUE(std::filesystem::is_empty(path));
    return results;
  }

  // All ranks succeeded, and only rank 0 printed a row. On a busy machine ranks
  // may warn that a socket's buffer is small.
  static void expectRow(const std::vector<Result>& results,
                        const std::string& row) {
    for (const auto& result : results) {
      EXPECT_EQ(result.status, 0) << result.output;
    }
    EXPECT_THAT(results[0].output,
                ::testing::AllOf(::testing::HasSubstr("BENCHMARK RESULTS"),
                                 ::testing::HasSubstr(row)));
    for (size_t i = 1; i < results.size(); i++) {
      EXPECT_THAT(results[i].output,
                  ::testing::Not(::testing::HasSubstr("BENCHMARK RESULTS")));
    }
  }

  std::string outputPath(int run, int rank) const {
    return directory_.path() + "/" + std::to_string(run) + "." +
           std::to_string(rank);
  }

  test::TemporaryDirectory directory_;
  int runs_ = 0;
};

}  // namespace benchmark
}  // namespace gloo
