// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/address.h>

#include <string>
#include <vector>

#include "transport_ubt/hello.h"

namespace gloo {
namespace transport {
namespace ubt {

// A pair's TCP address with the rank's Hello behind it: what Gloo swaps.
class Address : public ::gloo::transport::Address {
 public:
  Address(std::vector<char> tcp, const Hello& hello);

  // From a peer. Throws gloo::IoException if these are no bytes of ours.
  explicit Address(const std::vector<char>& bytes);

  std::string str() const override;
  std::vector<char> bytes() const override;

  const std::vector<char>& tcp() const { return tcp_; }
  const Hello& hello() const { return hello_; }

 private:
  std::vector<char> tcp_;
  Hello hello_;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
