// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/warning.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <mutex>
#include <set>

namespace ubt {
namespace {

// Maximum wait for a full pipe. Short, because the device may do nothing else
// meanwhile.
constexpr int kWaitMs = 100;

// True if a write of up to PIPE_BUF bytes would not block.
bool takesMore() noexcept {
  pollfd stderrFd{STDERR_FILENO, POLLOUT, 0};
  int ready = 0;
  do {
    ready = poll(&stderrFd, 1, kWaitMs);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

void writeAll(const std::string& line) noexcept {
  size_t written = 0;
  while (written < line.size() && takesMore()) {
    const size_t piece = std::min<size_t>(line.size() - written, PIPE_BUF);
    const ssize_t bytes = write(STDERR_FILENO, line.data() + written, piece);
    if (bytes > 0) {
      written += static_cast<size_t>(bytes);
    } else if (bytes == 0 || errno != EINTR) {
      return;
    }
  }
}

// The value of RANK, if it is a number; else empty.
std::string rankText() {
  const char* const rank = std::getenv("RANK");
  const std::string text = rank == nullptr ? "" : rank;
  return text.find_first_not_of("0123456789") == text.npos ? text : "";
}

// Who warns, and when.
std::string originText() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char clock[16] = {};
  std::strftime(clock, sizeof(clock), "%H:%M:%S ", &local);
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof(host) - 1);
  const std::string rank = rankText();
  return std::string(clock) + host + (rank.empty() ? "" : " rank " + rank);
}

}  // namespace

void writeLine(const std::string& text) noexcept {
  const int before = errno;
  try {
    writeAll(text + "\n");
  } catch (const std::exception&) {  // no memory for the line
    writeAll(text);
  }
  errno = before;
}

void warn(const std::string& text) noexcept {
  const int before = errno;
  try {
    writeAll(originText() + " warning: " + text + "\n");
  } catch (const std::exception&) {
    writeAll(text);
  }
  errno = before;
}

void warnOnce(const std::string& text) noexcept {
  try {
    // Never destroyed: threads may still warn while the process ends.
    static std::mutex* const mutex = new std::mutex;
    static auto* const said = new std::set<std::string>;
    const std::lock_guard<std::mutex> lock(*mutex);
    if (!said->insert(text).second) {
      return;
    }
  } catch (const std::exception&) {  // a repeated warning is better than none
  }
  warn(text);
}

void warnOncePerJob(const std::string& text) noexcept {
  try {
    const std::string rank = rankText();
    if (rank.find_first_not_of('0') != rank.npos) {
      return;
    }
  } catch (const std::exception&) {  // as above
  }
  warnOnce(text);
}

}  // namespace ubt
