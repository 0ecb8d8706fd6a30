// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gloo {
namespace rendezvous {

// Where a Redis server is and how to log in to it. A plain value.
//
//   redis://[user[:password]@]host[:port][/database]
//   unix://[user[:password]@]/path/to/socket[?db=database]
//
// `redis://:secret@host` logs in as Redis' default user. An IPv6 address
// stands in brackets: `redis://[::1]:6379`. User, password and path may hold
// percent-encoded bytes. `?db=` is understood in both forms.
struct RedisUrl {
  std::string host;      // empty for a unix socket
  int port = 6379;       // 1 to 65535; meaningless for a unix socket
  std::string unixPath;  // empty for TCP
  std::string user;      // empty: Redis' default user
  std::string password;  // empty: none
  int database = 0;

  // Throws gloo::InvalidOperationException that names what is wrong with
  // `text` and what to write instead, with any password left out.
  static RedisUrl parse(const std::string& text);

  // As parse(). Where `text` holds no password, takes it from the environment
  // variable GLOO_UBT_REDIS_PASSWORD, or else from the file that
  // GLOO_UBT_REDIS_PASSWORD_FILE names (trailing newlines dropped). Setting
  // both variables is an error, so is a file that cannot be read. Reads the
  // environment: not to be called while another thread changes it.
  static RedisUrl parseWithEnvironment(const std::string& text);

  // The URL without user and password, for messages.
  std::string display() const;
};

}  // namespace rendezvous
}  // namespace gloo
