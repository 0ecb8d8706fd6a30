// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/greeting.h"

#include <netinet/in.h>

#include <cstring>

#include "transport_ubt/core/wire/cursor.h"

namespace ubt {
namespace {

constexpr size_t kIpBytes = 16;
constexpr uint8_t kIpv4 = 4;
constexpr uint8_t kIpv6 = 6;

SecretProof proofFor(const Greeting& greeting,
                     const std::string& secret,
                     int rank) {
  return proofOf(secret,
                 rank,
                 greeting.encode().data(),
                 Greeting::kBytes - sizeof(SecretProof));
}

}  // namespace

std::vector<uint8_t> Greeting::encode() const {
  std::vector<uint8_t> bytes(kBytes);
  WriteCursor cursor(reinterpret_cast<std::byte*>(bytes.data()), kBytes);
  hello.encode(&cursor);
  std::array<uint8_t, kIpBytes> ip{};
  const bool four = address.family() == AF_INET;
  if (four) {
    const auto* const in = reinterpret_cast<const sockaddr_in*>(address.data());
    std::memcpy(ip.data(), &in->sin_addr, sizeof(in->sin_addr));
  } else {
    const auto* const in =
        reinterpret_cast<const sockaddr_in6*>(address.data());
    std::memcpy(ip.data(), &in->sin6_addr, sizeof(in->sin6_addr));
  }
  cursor.put(four ? kIpv4 : kIpv6);
  for (const uint8_t byte : ip) {
    cursor.put(byte);
  }
  for (const uint8_t byte : proof) {
    cursor.put(byte);
  }
  return bytes;
}

bool Greeting::decode(const std::vector<uint8_t>& bytes, Greeting* out) {
  ReadCursor cursor(reinterpret_cast<const std::byte*>(bytes.data()),
                    bytes.size());
  if (!Hello::decode(&cursor, &out->hello)) {
    return false;
  }
  const auto version = cursor.get<uint8_t>();
  std::array<uint8_t, kIpBytes> ip{};
  for (uint8_t& byte : ip) {
    byte = cursor.get<uint8_t>();
  }
  for (uint8_t& byte : out->proof) {
    byte = cursor.get<uint8_t>();
  }
  sockaddr_storage storage{};
  if (version == kIpv4) {
    auto* const in = reinterpret_cast<sockaddr_in*>(&storage);
    in->sin_family = AF_INET;
    std::memcpy(&in->sin_addr, ip.data(), sizeof(in->sin_addr));
  } else {
    auto* const in = reinterpret_cast<sockaddr_in6*>(&storage);
    in->sin6_family = AF_INET6;
    std::memcpy(&in->sin6_addr, ip.data(), sizeof(in->sin6_addr));
  }
  out->address = SocketAddress(storage, out->hello.port);
  return bytes.size() == kBytes && (version == kIpv4 || version == kIpv6) &&
         out->encode() == bytes;  // unused bytes must be zero
}

void Greeting::prove(const std::string& secret, int rank) {
  proof = proofFor(*this, secret, rank);
}

std::string Greeting::refusal(const std::string& secret, int rank) const {
  const std::string who = "rank " + std::to_string(rank);
  if (!sameProof(proof, proofFor(*this, secret, rank))) {
    return who +
           " has another secret (GLOO_UBT_SECRET), or its greeting was altered "
           "on the way. Does it belong to another job?";
  }
  std::string field = hello.outOfBounds();
  if (field.empty()) {
    field = outOfBounds(address);
  }
  return field.empty()
             ? ""
             : who + " sent a greeting that is out of bounds: " + field;
}

}  // namespace ubt
