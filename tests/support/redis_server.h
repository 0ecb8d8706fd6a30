// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <memory>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"

namespace test {

// A private redis-server that listens on a unix socket and on a free port of
// the loopback interface and keeps nothing. It ends with this object.
//
// To be made by a thread that outlives it.
class RedisServer {
 public:
  // With a password, clients have to log in as the default user.
  explicit RedisServer(const std::string& password = "");

  // URLs without the password.
  std::string tcpUrl() const;
  std::string unixUrl() const;
  // The unix URL with the password.
  std::string url() const;
  int port() const { return port_; }

  // Stops answering, but keeps its connections (SIGSTOP).
  void stop() { process_->signal(SIGSTOP); }
  void resume() { process_->signal(SIGCONT); }
  // Dies (SIGKILL), and has died when this returns.
  void kill();

 private:
  // Returns false if the port was taken by someone else.
  bool start(const std::string& password);
  bool answers() const;

  TemporaryDirectory directory_;
  std::string password_;
  int port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace test
