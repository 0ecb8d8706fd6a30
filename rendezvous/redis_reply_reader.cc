// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/redis_reply_reader.h"

#include <gloo/common/error.h>
#include <hiredis/hiredis.h>

namespace gloo {
namespace rendezvous {

namespace {

// Maximum for one array, because hiredis allocates all announced elements. A
// read asks for 256 entries; a transaction has a few.
constexpr int kElementsMax = 65536;

struct RawReplyDeleter {
  void operator()(void* reply) const { freeReplyObject(reply); }
};

RedisReply convert(const redisReply& raw) {
  RedisReply reply;
  switch (raw.type) {
    case REDIS_REPLY_INTEGER:
      reply.kind = RedisReply::Kind::kInteger;
      reply.integer = raw.integer;
      break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      reply.kind = RedisReply::Kind::kString;
      reply.text.assign(raw.str, raw.len);
      break;
    case REDIS_REPLY_ERROR:
      reply.kind = RedisReply::Kind::kError;
      reply.text.assign(raw.str, raw.len);
      break;
    case REDIS_REPLY_ARRAY:
      reply.kind = RedisReply::Kind::kArray;
      reply.elements.reserve(raw.elements);
      for (size_t i = 0; i < raw.elements; i++) {
        reply.elements.push_back(convert(*raw.element[i]));
      }
      break;
    default:
      break;
  }
  return reply;
}

const redisReplyObjectFunctions& defaults() {
  static const redisReplyObjectFunctions kDefaults = [] {
    redisReader* const reader = redisReaderCreate();
    const redisReplyObjectFunctions functions =
        reader == nullptr ? redisReplyObjectFunctions{} : *reader->fn;
    redisReaderFree(reader);
    return functions;
  }();
  return kDefaults;
}

// The type of a count differs between versions of hiredis.
template <typename Count>
void* createArray(const redisReadTask* task, Count count) {
  return count > kElementsMax ? nullptr : defaults().createArray(task, count);
}

redisReplyObjectFunctions* bounded() {
  static redisReplyObjectFunctions kBounded = [] {
    redisReplyObjectFunctions functions = defaults();
    functions.createArray = &createArray;
    return functions;
  }();
  return &kBounded;
}

}  // namespace

void RedisReplyReader::Deleter::operator()(redisReader* reader) const {
  redisReaderFree(reader);
}

RedisReplyReader::RedisReplyReader() {
  if (defaults().createArray != nullptr) {
    reader_.reset(redisReaderCreateWithFunctions(bounded()));
  }
  if (!reader_) {
    GLOO_THROW_IO_EXCEPTION("Out of memory for the connection to Redis");
  }
}

RedisReplyReader::~RedisReplyReader() = default;

void RedisReplyReader::feed(const char* data, size_t bytes) {
  // After bytes that violate the protocol, the reader takes no others.
  if (reader_->err == 0 &&
      redisReaderFeed(reader_.get(), data, bytes) != REDIS_OK) {
    GLOO_THROW_IO_EXCEPTION("Out of memory for a reply of Redis");
  }
}

bool RedisReplyReader::next(RedisReply* reply) {
  void* raw = nullptr;
  if (redisReaderGetReply(reader_.get(), &raw) != REDIS_OK || raw == nullptr) {
    return false;
  }
  const std::unique_ptr<void, RawReplyDeleter> owner(raw);
  *reply = convert(*static_cast<redisReply*>(raw));
  return true;
}

std::string RedisReplyReader::error() const {
  if (reader_->err == REDIS_ERR_OOM) {
    return "too large an answer, or too little memory";
  }
  return reader_->err == 0 ? "" : reader_->errstr;
}

}  // namespace rendezvous
}  // namespace gloo
