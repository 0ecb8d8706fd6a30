// SPDX-License-Identifier: Apache-2.0
//
// An address on the wire:
//
//   28 bytes   tcp's socket address as in memory, with only the fields that its
//              family uses
//   u8         how many bytes of tcp's address follow the socket address
//              these bytes
//              the Hello
//              the proof
//              zeros, up to the bytes that Gloo has for an address
//
// All addresses have one length, because Gloo divides the sum by the number of
// pairs.
#include "transport_ubt/address.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/address.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gloo {
namespace transport {
namespace ubt {

using ::ubt::proofOf;
using ::ubt::ReadCursor;
using ::ubt::sameProof;
using ::ubt::SocketAddress;
using ::ubt::WriteCursor;
namespace {

// The bytes that Gloo's ContextFactory has for an address.
constexpr size_t kBytes = 192;
constexpr size_t kUsedBytes = sizeof(sockaddr_in6);  // of a sockaddr_storage
constexpr size_t kRestMax =
    kBytes - kUsedBytes - 1 - Hello::kBytes - sizeof(SecretProof);
static_assert(sizeof(sockaddr_in) <= kUsedBytes, "IPv6's is the longer");

[[noreturn]] void throwStrange() {
  throw ::gloo::IoException(
      "a peer's address is not of the ubt transport: create the same device "
      "(same version) on every rank");
}

sockaddr_storage storageOf(const std::vector<char>& tcp) {
  sockaddr_storage storage{};
  std::memcpy(&storage, tcp.data(), std::min(tcp.size(), sizeof(storage)));
  return storage;
}

uint16_t portOf(const sockaddr_storage& storage) {
  return ntohs(storage.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in&>(storage).sin_port
                   : reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
}

// Clears the fields that the family does not use: Gloo leaves old memory there.
std::vector<char> plain(const std::vector<char>& tcp) {
  const sockaddr_storage storage = storageOf(tcp);
  sockaddr_storage out{};
  if (storage.ss_family == AF_INET) {
    const auto& from = reinterpret_cast<const sockaddr_in&>(storage);
    auto& to = reinterpret_cast<sockaddr_in&>(out);
    to.sin_family = from.sin_family;
    to.sin_port = from.sin_port;
    to.sin_addr = from.sin_addr;
  } else if (storage.ss_family == AF_INET6) {
    std::memcpy(&out, &storage, sizeof(sockaddr_in6));
  } else {
    throwStrange();
  }
  std::vector<char> bytes(tcp);
  std::memcpy(bytes.data(), &out, sizeof(out));
  return bytes;
}

}  // namespace

Address::Address(const std::vector<char>& tcp,
                 const Hello& hello,
                 const std::string& secret,
                 int rank)
    : hello_(hello) {
  if (tcp.size() < sizeof(sockaddr_storage) ||
      tcp.size() > sizeof(sockaddr_storage) + kRestMax) {
    throwStrange();
  }
  tcp_ = plain(tcp);
  const std::vector<uint8_t> covered = proven();
  proof_ = proofOf(secret, rank, covered.data(), covered.size());
}

Address::Address(const std::vector<char>& bytes) {
  const size_t rest = bytes.size() > kUsedBytes
                          ? static_cast<uint8_t>(bytes[kUsedBytes])
                          : kRestMax + 1;
  if (bytes.size() != kBytes || rest > kRestMax) {
    throwStrange();
  }
  const char* const afterRest = bytes.data() + kUsedBytes + 1 + rest;
  ReadCursor cursor(reinterpret_cast<const std::byte*>(afterRest),
                    Hello::kBytes);
  if (!Hello::decode(&cursor, &hello_)) {
    throwStrange();
  }
  std::vector<char> tcp(sizeof(sockaddr_storage) + rest);
  std::memcpy(tcp.data(), bytes.data(), kUsedBytes);
  std::memcpy(tcp.data() + sizeof(sockaddr_storage),
              bytes.data() + kUsedBytes + 1,
              rest);
  tcp_ = plain(tcp);
  std::memcpy(proof_.data(), afterRest + Hello::kBytes, proof_.size());
  if (this->bytes() != bytes) {
    throwStrange();  // unused bytes must be zero
  }
}

// The bytes that the proof covers.
std::vector<uint8_t> Address::proven() const {
  const size_t rest = tcp_.size() - sizeof(sockaddr_storage);
  std::vector<uint8_t> bytes(kUsedBytes + 1 + rest + Hello::kBytes);
  std::memcpy(bytes.data(), tcp_.data(), kUsedBytes);
  bytes[kUsedBytes] = static_cast<uint8_t>(rest);
  std::memcpy(bytes.data() + kUsedBytes + 1,
              tcp_.data() + sizeof(sockaddr_storage),
              rest);
  WriteCursor cursor(
      reinterpret_cast<std::byte*>(bytes.data()) + kUsedBytes + 1 + rest,
      Hello::kBytes);
  hello_.encode(&cursor);
  return bytes;
}

std::vector<char> Address::bytes() const {
  const std::vector<uint8_t> covered = proven();
  std::vector<char> bytes(covered.begin(), covered.end());
  bytes.insert(bytes.end(), proof_.begin(), proof_.end());
  bytes.resize(kBytes);
  return bytes;
}

void Address::check(const std::string& secret, int rank) const {
  const std::string who = "rank " + std::to_string(rank);
  const std::vector<uint8_t> covered = proven();
  if (!sameProof(proof_,
                 proofOf(secret, rank, covered.data(), covered.size()))) {
    throw ::gloo::IoException(
        who +
        " has another secret (GLOO_UBT_SECRET), or its address was altered on "
        "the way. Does it belong to another job?");
  }
  const sockaddr_storage tcp = storageOf(tcp_);
  std::string field = hello_.outOfBounds();
  if (field.empty()) {
    field = outOfBounds(SocketAddress(tcp, hello_.port));
  }
  if (field.empty() && portOf(tcp) == 0) {
    field = "TCP port 0 (allowed: 1 to 65535)";
  }
  if (!field.empty()) {
    throw ::gloo::IoException(
        who + " sent an address that is out of bounds: " + field);
  }
}

RankPlace Address::place() const {
  const sockaddr_storage storage = storageOf(tcp_);
  return {hello_.groups.host, SocketAddress(storage, portOf(storage))};
}

std::string Address::whyUnreachable(const Address& peer, int rank) const {
  return place().whyUnreachable(peer.place(), rank);
}

std::string Address::str() const {
  return tcp::Address(tcp_).str() + " udp port " + std::to_string(hello_.port);
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
