// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <memory>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"

namespace test {

// A private redis-server without persistence. It listens on a unix socket and
// on a free port of the loopback interface. It ends with this object.
//
// REQUIRES that the thread that creates it outlives it.
class RedisServer {
 public:
  // If a password is given, clients must log in as the default user.
  explicit RedisServer(const std::string& password = "");

  // URLs without the password.
  std::string tcpUrl() const;
  std::string unixUrl() const;
  // The unix URL with the password.
  std::string url() const;
  int port() const { return port_; }

  // Stops it with SIGSTOP: it does not answer, but keeps its connections.
  void stop() { process_->signal(SIGSTOP); }
  void resume() { process_->signal(SIGCONT); }
  // Kills it with SIGKILL and waits until it is dead.
  void kill();

 private:
  // Returns false if another process took the port.
  bool start(const std::string& password);
  bool answers() const;

  TemporaryDirectory directory_;
  std::string password_;
  int port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace test
