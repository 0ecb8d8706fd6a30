// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/warning.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

namespace ubt {
namespace {

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

using Writes = std::vector<std::string>;

TEST(Warning, IsOneWrite) {
  const Stderr captured;
  warn("the first");
  writeLine("a line");
  EXPECT_EQ(captured.writes(), (Writes{"warning: the first\n", "a line\n"}));
}

TEST(Warning, IsSaidOnceIfAsked) {
  const Stderr captured;
  warnOnce("one thing");
  warnOnce("another");
  warnOnce("one thing");
  EXPECT_EQ(captured.writes(),
            (Writes{"warning: one thing\n", "warning: another\n"}));
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
  EXPECT_EQ(after, "warning: somebody reads this\n");
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
