// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/address.h>

#include <cstdint>
#include <string>
#include <vector>

#include "transport_ubt/bounded/hello.h"
#include "transport_ubt/bounded/rank_place.h"
#include "transport_ubt/bounded/secret_proof.h"

namespace gloo {
namespace transport {
namespace ubt {

using ::ubt::Hello;
using ::ubt::RankPlace;
using ::ubt::SecretProof;

// The address that Gloo swaps: a pair's TCP address, the rank's Hello, and a
// proof over both that the rank knows the job's secret.
class Address : public ::gloo::transport::Address {
 public:
  // This rank's address. `tcp` is tcp::Address::bytes(). Throws
  // gloo::IoException if it is not IPv4 or IPv6, or is longer than Gloo's.
  Address(const std::vector<char>& tcp,
          const Hello& hello,
          const std::string& secret,
          int rank);

  // A peer's address. Throws gloo::IoException if `bytes` are no ubt address.
  // Checks only the form: call check() before use.
  explicit Address(const std::vector<char>& bytes);

  // Throws gloo::IoException that names `rank` unless that rank sent exactly
  // this, with the job's secret, and all fields are within their bounds.
  void check(const std::string& secret, int rank) const;

  // An error text with its remedy if this address and `peer`'s, of rank `rank`,
  // are on different hosts, and one of them is a loopback address. Otherwise
  // empty.
  std::string whyUnreachable(const Address& peer, int rank) const;

  std::string str() const override;
  std::vector<char> bytes() const override;

  const std::vector<char>& tcp() const { return tcp_; }
  const Hello& hello() const { return hello_; }

 private:
  std::vector<uint8_t> proven() const;
  RankPlace place() const;

  std::vector<char> tcp_;
  Hello hello_;
  SecretProof proof_{};
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
