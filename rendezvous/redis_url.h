// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gloo {
namespace rendezvous {

// The place of a Redis server, and the login. A plain value.
//
//   redis://[user[:password]@]host[:port][/database]
//   unix://[user[:password]@]/path/to/socket[?db=database]
//
// `redis://:secret@host` logs in as Redis' default user. Write an IPv6 address
// in brackets: `redis://[::1]:6379`. User, password and path may have
// percent-encoded bytes. Both forms take `?db=`.
struct RedisUrl {
  std::string host;      // empty for a unix socket
  int port = 6379;       // 1 to 65535; meaningless for a unix socket
  std::string unixPath;  // empty for TCP
  std::string user;      // empty: Redis' default user
  std::string password;  // empty: none
  int database = 0;

  // Throws gloo::InvalidOperationException that names the fault of `text` and
  // the remedy, without any password.
  static RedisUrl parse(const std::string& text);

  // Like parse(). If `text` has no password, takes it from the environment
  // variable GLOO_UBT_REDIS_PASSWORD, or else from the file that
  // GLOO_UBT_REDIS_PASSWORD_FILE names (without trailing newlines). It is an
  // error to set both variables, or to name a file that cannot be read.
  // REQUIRES: no other thread changes the environment meanwhile.
  static RedisUrl parseWithEnvironment(const std::string& text);

  // The URL without user and password, for messages.
  std::string display() const;
};

}  // namespace rendezvous
}  // namespace gloo
