// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gloo {
namespace benchmark {

// Wrong elements that a verification found. All are counted; the first few (or
// all) are kept as text.
class Mismatches {
 public:
  static constexpr size_t kShown = 20;

  Mismatches(int rank, bool keepAll) : rank_(rank), keepAll_(keepAll) {}

  // `index`: of the element in the checked buffer.
  void add(size_t index, double got, double expected);

  size_t count() const { return count_; }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  const int rank_;
  const bool keepAll_;
  size_t count_ = 0;
  std::vector<std::string> texts_;
};

}  // namespace benchmark
}  // namespace gloo
