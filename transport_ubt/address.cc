// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/address.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/address.h>

namespace gloo {
namespace transport {
namespace ubt {

// Gloo's ContextFactory has room for 192 bytes, tcp's 136 of them.
static_assert(Hello::kBytes <= 192 - 136);

Address::Address(std::vector<char> tcp, const Hello& hello)
    : tcp_(std::move(tcp)), hello_(hello) {}

Address::Address(const std::vector<char>& bytes) {
  const char* const why =
      "a peer's address is not of the ubt transport: create the same device "
      "(same version) on every rank";
  if (bytes.size() <= Hello::kBytes) {
    throw ::gloo::IoException(why);
  }
  const size_t tcpBytes = bytes.size() - Hello::kBytes;
  ::ubt::ReadCursor cursor(
      reinterpret_cast<const std::byte*>(bytes.data()) + tcpBytes,
      Hello::kBytes);
  if (!Hello::decode(&cursor, &hello_)) {
    throw ::gloo::IoException(why);
  }
  tcp_.assign(bytes.begin(), bytes.begin() + tcpBytes);
}

std::vector<char> Address::bytes() const {
  std::vector<char> bytes(tcp_);
  bytes.resize(tcp_.size() + Hello::kBytes);
  ::ubt::WriteCursor cursor(
      reinterpret_cast<std::byte*>(bytes.data()) + tcp_.size(), Hello::kBytes);
  hello_.encode(&cursor);
  return bytes;
}

std::string Address::str() const {
  return tcp::Address(tcp_).str() + " udp port " + std::to_string(hello_.port);
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
