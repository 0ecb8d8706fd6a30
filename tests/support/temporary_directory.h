// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace test {

// A new directory directly under /tmp, removed with its contents at the end.
// The path of Bazel's own $TEST_TMPDIR is too long for a unix socket.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char path[] = "/tmp/ubt_test_XXXXXX";
    if (mkdtemp(path) == nullptr) {
      throw std::runtime_error("mkdtemp failed");
    }
    path_ = path;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace test
