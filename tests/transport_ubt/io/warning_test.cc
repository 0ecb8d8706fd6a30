// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/warning.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>
#include <vector>

#include "tests/support/environment_variable.h"

namespace ubt {
namespace {

using ::test::EnvironmentVariable;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::MatchesRegex;

// Replaces standard error: each write to it is one datagram.
class Stderr {
 public:
  Stderr() : before_(dup(STDERR_FILENO)) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_), 0);
    EXPECT_EQ(dup2(ends_[0], STDERR_FILENO), STDERR_FILENO);
  }
  ~Stderr() {
    EXPECT_EQ(dup2(before_, STDERR_FILENO), STDERR_FILENO);
    close(before_);
    close(ends_[0]);
    close(ends_[1]);
  }
  Stderr(const Stderr&) = delete;
  Stderr& operator=(const Stderr&) = delete;

  std::vector<std::string> writes() const {
    std::vector<std::string> all;
    char buffer[4096];
    for (;;) {
      const ssize_t bytes =
          recv(ends_[1], buffer, sizeof(buffer), MSG_DONTWAIT);
      if (bytes <= 0) {
        return all;
      }
      all.emplace_back(buffer, static_cast<size_t>(bytes));
    }
  }

 private:
  const int before_;
  int ends_[2] = {-1, -1};
};

TEST(Warning, IsOneWrite) {
  const Stderr captured;
  warn("the first");
  writeLine("a line");
  EXPECT_THAT(captured.writes(),
              ElementsAre(EndsWith(" warning: the first\n"), "a line\n"));
}

TEST(Warning, IsSaidOnceIfAsked) {
  const Stderr captured;
  warnOnce("one thing");
  warnOnce("another");
  warnOnce("one thing");
  EXPECT_THAT(captured.writes(),
              ElementsAre(EndsWith(" warning: one thing\n"),
                          EndsWith(" warning: another\n")));
}

TEST(Warning, TellsTimeHostAndRank) {
  const EnvironmentVariable rank("RANK", "12");
  const Stderr captured;
  warn("the first");
  char host[HOST_NAME_MAX + 1] = {};
  ASSERT_EQ(gethostname(host, sizeof(host) - 1), 0);
  EXPECT_THAT(captured.writes(),
              ElementsAre(MatchesRegex("[0-9]{2}:[0-9]{2}:[0-9]{2} " +
                                       std::string(host) +
                                       " rank 12 warning: the first\n")));
}

TEST(Warning, OfTheJobIsRank0s) {
  const Stderr captured;
  for (const char* const rank : {"1", "10", "0"}) {
    const EnvironmentVariable variable("RANK", rank);
    warnOncePerJob("what all say");
  }
  EXPECT_THAT(captured.writes(),
              ElementsAre(EndsWith(" rank 0 warning: what all say\n")));
}

TEST(Warning, OfAJobWithoutRanksIsEveryProcesss) {
  const EnvironmentVariable none("RANK", nullptr);
  const Stderr captured;
  warnOncePerJob("without ranks");
  EXPECT_THAT(captured.writes(),
              ElementsAre(EndsWith(" warning: without ranks\n")));
}

std::string drained(int pipe) {
  std::string all;
  char buffer[4096];
  ssize_t bytes = 0;
  while ((bytes = read(pipe, buffer, sizeof(buffer))) > 0) {
    all.append(buffer, static_cast<size_t>(bytes));
  }
  return all;
}

// A launcher that does not read output must not block a call.
TEST(Warning, IsDroppedIfAFullPipeHasNoReader) {
  int pipe[2];
  ASSERT_EQ(pipe2(pipe, O_CLOEXEC | O_NONBLOCK), 0);
  while (write(pipe[1], "x", 1) == 1) {
  }
  ASSERT_EQ(fcntl(pipe[1], F_SETFL, 0), 0);  // blocking, like stderr
  const int before = dup(STDERR_FILENO);
  ASSERT_EQ(dup2(pipe[1], STDERR_FILENO), STDERR_FILENO);
  warn("nobody reads this");
  const std::string full = drained(pipe[0]);
  warn("somebody reads this");
  const std::string after = drained(pipe[0]);
  dup2(before, STDERR_FILENO);
  for (const int file : {before, pipe[0], pipe[1]}) {
    close(file);
  }
  EXPECT_EQ(full.find("warning"), std::string::npos);
  EXPECT_THAT(after, EndsWith(" warning: somebody reads this\n"));
}

TEST(Warning, LeavesErrnoAlone) {
  const int before = dup(STDERR_FILENO);
  close(STDERR_FILENO);
  errno = ENOENT;
  warn("nobody reads this");
  writeLine("nor this");
  const int after = errno;
  dup2(before, STDERR_FILENO);
  close(before);
  EXPECT_EQ(after, ENOENT);
}

}  // namespace
}  // namespace ubt
