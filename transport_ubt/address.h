// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/address.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gloo {
namespace transport {
namespace ubt {

// What a rank tells every other about its UDP side. Made fresh for each
// context: the public key is also the nonce that sets runs apart.
struct Hello {
  uint16_t port = 0;
  uint32_t slotBytesMax = 0;
  uint32_t windowBytes = 0;
  uint64_t minBytes = 0;  // the same on all ranks
  std::array<uint8_t, 32> publicKey{};
};

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
