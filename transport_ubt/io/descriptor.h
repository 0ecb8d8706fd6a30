// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace ubt {

// Owns a file descriptor, and closes it. Move-only.
class Descriptor {
 public:
  Descriptor() = default;
  // Owns `fd`, the result of a system call. `what` names the call. If it has
  // failed, throws std::system_error with its errno.
  Descriptor(int fd, const char* what) : fd_(fd) {
    if (fd < 0) {
      throw std::system_error(errno, std::generic_category(), what);
    }
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace ubt
