// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/redis_socket.h"

#include <fcntl.h>
#include <gloo/common/error.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <vector>

#include "rendezvous/connect_to_any.h"
#include "rendezvous/poll_until.h"
#include "transport_ubt/io/quiet_thread.h"

namespace gloo {
namespace rendezvous {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

struct Resolution {
  int error = 0;  // of getaddrinfo
  std::vector<TcpAddress> addresses;
};

Resolution resolve(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  Resolution result;
  result.error =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  for (const auto* it = list; result.error == 0 && it; it = it->ai_next) {
    TcpAddress address;
    std::memcpy(&address.storage, it->ai_addr, it->ai_addrlen);
    address.length = it->ai_addrlen;
    result.addresses.push_back(address);
  }
  if (list != nullptr) {
    freeaddrinfo(list);
  }
  return result;
}

// getaddrinfo() takes no deadline, so a name (not a number) is resolved on a
// thread that may be left behind.
Resolution resolveBy(const std::string& host, int port, Deadline deadline) {
  auto numeric = resolve(host, port, AI_NUMERICHOST);
  if (numeric.error == 0) {
    return numeric;
  }
  auto promise = std::make_shared<std::promise<Resolution>>();
  auto future = promise->get_future();
  ubt::quietThread([promise, host, port] {
    promise->set_value(resolve(host, port, 0));
  }).detach();
  if (future.wait_until(deadline) != std::future_status::ready) {
    Resolution late;
    late.error = EAI_AGAIN;
    return late;
  }
  return future.get();
}

}  // namespace

RedisSocket::RedisSocket(const RedisUrl& url, Deadline deadline)
    : server_(url.display()) {
  if (url.unixPath.empty()) {
    connectTcp(url, deadline);
  } else {
    connectUnix(url, deadline);
  }
}

RedisSocket::~RedisSocket() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

void RedisSocket::connectUnix(const RedisUrl& url, Deadline deadline) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (url.unixPath.size() >= sizeof(address.sun_path)) {
    GLOO_THROW_INVALID_OPERATION_EXCEPTION(
        "The path of the Redis socket ", server_, " is too long");
  }
  std::memcpy(address.sun_path, url.unixPath.data(), url.unixPath.size());
  fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  int error = fd_ < 0 ? errno : 0;
  while (error == 0 && connect(fd_, generic, sizeof(address)) != 0) {
    if (errno != EAGAIN && errno != EINTR) {
      error = errno;
    } else if (Clock::now() >= deadline) {
      error = ETIMEDOUT;
    } else {
      // The backlog is full, and no event tells when it has room.
      std::this_thread::sleep_for(milliseconds(5));
    }
  }
  if (error != 0) {
    GLOO_THROW_IO_EXCEPTION(
        "Cannot connect to Redis at ",
        server_,
        ": ",
        std::strerror(error),
        ". Is redis-server running there (option --unixsocket), and may this "
        "user open the socket?");
  }
}

void RedisSocket::connectTcp(const RedisUrl& url, Deadline deadline) {
  const auto resolution = resolveBy(url.host, url.port, deadline);
  if (resolution.error != 0) {
    GLOO_THROW_IO_EXCEPTION("Cannot resolve the host of Redis at ",
                            server_,
                            ": ",
                            gai_strerror(resolution.error),
                            ". Check the name, or give the address itself");
  }
  const int error = connectToAny(resolution.addresses, deadline, &fd_);
  if (error != 0) {
    GLOO_THROW_IO_EXCEPTION(
        "Cannot connect to Redis at ",
        server_,
        ": ",
        std::strerror(error),
        ". Is redis-server running there, does its 'bind' allow this host, and "
        "does a firewall let port ",
        url.port,
        " through?");
  }
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(fd_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

void RedisSocket::waitFor(short events, Deadline deadline) {
  const int error = pollUntil(fd_, events, deadline);
  if (error != 0 && error != ETIMEDOUT) {
    GLOO_THROW_IO_EXCEPTION("poll: ", std::strerror(error));
  }
  if (error != 0) {
    GLOO_THROW_IO_EXCEPTION(
        "Redis at ",
        server_,
        " took the connection but did not answer in time. Is it stopped or "
        "overloaded? Try `redis-cli ping` against it, or raise the timeout");
  }
}

void RedisSocket::write(const std::string& bytes, Deadline deadline) {
  size_t written = 0;
  while (written < bytes.size()) {
    const auto n =
        send(fd_, bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL);
    if (n >= 0) {
      written += static_cast<size_t>(n);
    } else if (errno == EAGAIN) {
      waitFor(POLLOUT, deadline);
    } else if (errno != EINTR) {
      GLOO_THROW_IO_EXCEPTION("Lost the connection to Redis at ",
                              server_,
                              ": ",
                              std::strerror(errno),
                              ". Was redis-server stopped or restarted?");
    }
  }
}

size_t RedisSocket::read(char* buffer, size_t capacity, Deadline deadline) {
  for (;;) {
    const auto n = recv(fd_, buffer, capacity, 0);
    if (n > 0) {
      return static_cast<size_t>(n);
    }
    if (n < 0 && errno == EAGAIN) {
      waitFor(POLLIN, deadline);
    } else if (n == 0 || errno != EINTR) {
      GLOO_THROW_IO_EXCEPTION(
          "Lost the connection to Redis at ",
          server_,
          ": ",
          n == 0 ? "closed by the server" : std::strerror(errno),
          ". Was redis-server stopped or restarted?");
    }
  }
}

}  // namespace rendezvous
}  // namespace gloo
