// SPDX-License-Identifier: Apache-2.0
#include "tests/support/redis_server.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace test {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStartLimit{10000};
constexpr int kAttempts = 5;

// A port that is free now. Another process may still take it first.
int freePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (fd < 0 || bind(fd, generic, length) != 0 ||
      getsockname(fd, generic, &length) != 0) {
    throw std::runtime_error("no free port on loopback");
  }
  close(fd);
  return ntohs(address.sin_port);
}

}  // namespace

RedisServer::RedisServer(const std::string& password) : password_(password) {
  for (int i = 0; i < kAttempts; i++) {
    if (start(password)) {
      return;
    }
  }
  throw std::runtime_error("redis-server does not start; is it installed?");
}

bool RedisServer::start(const std::string& password) {
  port_ = freePort();
  std::vector<std::string> command{
      "redis-server",
      "--port",
      std::to_string(port_),
      "--bind",
      "127.0.0.1",
      "--unixsocket",
      directory_.path() + "/redis.sock",
      "--dir",
      directory_.path(),
      "--save",
      "",
      "--appendonly",
      "no",
  };
  if (!password.empty()) {
    command.insert(command.end(), {"--requirepass", password});
  }
  process_ =
      std::make_unique<ChildProcess>(command, directory_.path() + "/log");
  const auto end = std::chrono::steady_clock::now() + kStartLimit;
  while (std::chrono::steady_clock::now() < end) {
    if (process_->wait(milliseconds(0))) {
      return false;
    }
    if (answers()) {
      return true;
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

bool RedisServer::answers() const {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = directory_.path() + "/redis.sock";
  std::memcpy(address.sun_path, path.data(), path.size());
  char answer = 0;
  const bool ok =
      connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) ==
          0 &&
      write(fd, "PING\r\n", 6) == 6 && read(fd, &answer, 1) == 1;
  close(fd);
  return ok;
}

std::string RedisServer::tcpUrl() const {
  return "redis://127.0.0.1:" + std::to_string(port_);
}

std::string RedisServer::unixUrl() const {
  return "unix://" + directory_.path() + "/redis.sock";
}

std::string RedisServer::url() const {
  const auto login = password_.empty() ? "" : ":" + password_ + "@";
  return "unix://" + login + directory_.path() + "/redis.sock";
}

void RedisServer::kill() {
  process_->signal(SIGKILL);
  process_->wait(kStartLimit);
}

}  // namespace test
