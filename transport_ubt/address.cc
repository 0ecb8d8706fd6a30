// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/address.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/address.h>

#include <cstring>

#include "transport_ubt/core/cursor.h"

namespace gloo {
namespace transport {
namespace ubt {
namespace {

constexpr uint32_t kMagic = 0x33746275;  // "ubt3", little-endian
// Gloo's ContextFactory has room for 192 bytes, tcp's 136 of them.
constexpr size_t kHelloBytes = 4 + 2 + 4 + 4 + 8 + 32;

}  // namespace

Address::Address(std::vector<char> tcp, const Hello& hello)
    : tcp_(std::move(tcp)), hello_(hello) {}

Address::Address(const std::vector<char>& bytes) {
  const char* const why =
      "a peer's address is not of the ubt transport: create the same device "
      "(same version) on every rank";
  if (bytes.size() <= kHelloBytes) {
    throw ::gloo::IoException(why);
  }
  const size_t tcpBytes = bytes.size() - kHelloBytes;
  ::ubt::ReadCursor cursor(
      reinterpret_cast<const std::byte*>(bytes.data()) + tcpBytes, kHelloBytes);
  const auto magic = cursor.get<uint32_t>();
  hello_.port = cursor.get<uint16_t>();
  hello_.slotBytesMax = cursor.get<uint32_t>();
  hello_.windowBytes = cursor.get<uint32_t>();
  hello_.minBytes = cursor.get<uint64_t>();
  for (uint8_t& byte : hello_.publicKey) {
    byte = cursor.get<uint8_t>();
  }
  const bool sane = magic == kMagic && hello_.port != 0 &&
                    hello_.slotBytesMax > 0 && hello_.slotBytesMax < 65536 &&
                    hello_.slotBytesMax % 64 == 0 && hello_.windowBytes > 0;
  if (!sane) {
    throw ::gloo::IoException(why);
  }
  tcp_.assign(bytes.begin(), bytes.begin() + tcpBytes);
}

std::vector<char> Address::bytes() const {
  std::vector<char> bytes(tcp_);
  bytes.resize(tcp_.size() + kHelloBytes);
  ::ubt::WriteCursor cursor(
      reinterpret_cast<std::byte*>(bytes.data()) + tcp_.size(), kHelloBytes);
  cursor.put(kMagic);
  cursor.put(hello_.port);
  cursor.put(hello_.slotBytesMax);
  cursor.put(hello_.windowBytes);
  cursor.put(hello_.minBytes);
  for (const uint8_t byte : hello_.publicKey) {
    cursor.put(byte);
  }
  return bytes;
}

std::string Address::str() const {
  return tcp::Address(tcp_).str() + " udp port " + std::to_string(hello_.port);
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
