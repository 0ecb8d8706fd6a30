// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gloo {
namespace rendezvous {

// One reply of a Redis server. A plain value that owns its bytes.
struct RedisReply {
  enum class Kind { kNil, kInteger, kString, kArray, kError };

  Kind kind = Kind::kNil;
  int64_t integer = 0;               // kInteger
  std::string text;                  // kString (also status), kError
  std::vector<RedisReply> elements;  // kArray

  bool isNil() const { return kind == Kind::kNil; }
  bool isError() const { return kind == Kind::kError; }
  bool isString() const { return kind == Kind::kString; }
};

}  // namespace rendezvous
}  // namespace gloo
