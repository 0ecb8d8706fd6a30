// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/redis_connection.h"

#include <gloo/common/error.h>
#include <hiredis/hiredis.h>

#include <utility>

namespace gloo {
namespace rendezvous {

namespace {

// Larger than any roster. If one reply is larger, this is not the right server.
constexpr size_t kReplyBytesMax = 256 << 20;

void format(const RedisCommand& command, std::string* out) {
  std::vector<const char*> arguments;
  std::vector<size_t> lengths;
  for (const auto& argument : command) {
    arguments.push_back(argument.data());
    lengths.push_back(argument.size());
  }
  char* text = nullptr;
  const int length = redisFormatCommandArgv(&text,
                                            static_cast<int>(command.size()),
                                            arguments.data(),
                                            lengths.data());
  if (length < 0) {
    GLOO_THROW_IO_EXCEPTION("Out of memory for a Redis command");
  }
  out->append(text, static_cast<size_t>(length));
  redisFreeCommand(text);
}

bool startsWith(const std::string& text, const char* prefix) {
  return text.rfind(prefix, 0) == 0;
}

// The remedy for an error reply, as a sentence.
std::string remedy(const std::string& error) {
  if (startsWith(error, "NOAUTH")) {
    return "This Redis needs a password: put it in the URL "
           "(redis://:password@host), in GLOO_UBT_REDIS_PASSWORD, or in a "
           "file that GLOO_UBT_REDIS_PASSWORD_FILE names";
  }
  if (startsWith(error, "WRONGPASS") || startsWith(error, "ERR invalid pass")) {
    return "The user or password is wrong: check the URL, "
           "GLOO_UBT_REDIS_PASSWORD and GLOO_UBT_REDIS_PASSWORD_FILE";
  }
  if (startsWith(error, "NOPERM")) {
    return "The user's ACL forbids it: allow XADD, XREAD, XDEL, EXPIRE, MULTI "
           "and EXEC on keys gloo-ubt:*";
  }
  if (startsWith(error, "DENIED")) {
    return "Redis is in protected mode: set a password, or bind it to an "
           "address the ranks can reach and turn protected mode off";
  }
  if (startsWith(error, "LOADING")) {
    return "Redis is still loading its data: start again when it is done";
  }
  if (startsWith(error, "READONLY")) {
    return "This Redis is a replica: name the primary in the URL";
  }
  if (startsWith(error, "MOVED") || startsWith(error, "CROSSSLOT")) {
    return "Redis Cluster is not supported: name a single server";
  }
  if (startsWith(error, "OOM")) {
    return "Redis is out of memory: raise its maxmemory or free keys";
  }
  if (startsWith(error, "WRONGTYPE")) {
    return "Another program uses this key: choose another prefix";
  }
  if (error.find("unknown command") != std::string::npos) {
    return "Streams need Redis 5 or later";
  }
  if (error.find("DB index") != std::string::npos) {
    return "The server has fewer databases: name a smaller one in the URL";
  }
  return "Check the server's log";
}

}  // namespace

RedisConnection::RedisConnection(RedisUrl url, Deadline deadline)
    : url_(std::move(url)), socket_(url_, deadline) {
  logIn(deadline);
}

RedisConnection::~RedisConnection() = default;

void RedisConnection::logIn(Deadline deadline) {
  if (!url_.user.empty() || !url_.password.empty()) {
    RedisCommand auth{"AUTH"};
    if (!url_.user.empty()) {
      auth.push_back(url_.user);
    }
    auth.push_back(url_.password);
    const auto reply = request(auth, deadline);
    // The error for a password that the server does not need: "called without
    // any password configured" since Redis 6, "no password is set" before.
    const bool open =
        reply.text.find("without any password") != std::string::npos ||
        reply.text.find("no password is set") != std::string::npos;
    if (reply.isError() && !open) {
      refuse("AUTH", reply);
    }
  }
  // Find out now, not during a rendezvous, whether commands are allowed.
  command({"SELECT", std::to_string(url_.database)}, deadline);
}

void RedisConnection::refuse(const std::string& command,
                             const RedisReply& reply) const {
  GLOO_THROW_IO_EXCEPTION("Redis at ",
                          url_.display(),
                          " refused ",
                          command,
                          ": ",
                          reply.text,
                          ". ",
                          remedy(reply.text));
}

void RedisConnection::send(const std::vector<RedisCommand>& commands,
                           Deadline deadline) {
  if (broken_) {
    GLOO_THROW_IO_EXCEPTION("The connection to Redis at ",
                            url_.display(),
                            " failed earlier. Join again with a new one");
  }
  std::string bytes;
  for (const auto& command : commands) {
    format(command, &bytes);
  }
  // Until all replies have come.
  broken_ = true;
  socket_.write(bytes, deadline);
}

RedisReply RedisConnection::receive(Deadline deadline) {
  size_t received = 0;
  char buffer[16 * 1024];
  RedisReply reply;
  while (!reader_.next(&reply)) {
    if (!reader_.error().empty() || received > kReplyBytesMax) {
      GLOO_THROW_IO_EXCEPTION(
          "What answers at ",
          url_.display(),
          " does not speak Redis' protocol",
          reader_.error().empty() ? "" : MakeString(" (", reader_.error(), ")"),
          ". Check host and port");
    }
    const auto n = socket_.read(buffer, sizeof(buffer), deadline);
    received += n;
    reader_.feed(buffer, n);
  }
  return reply;
}

RedisReply RedisConnection::request(const RedisCommand& command,
                                    Deadline deadline) {
  send({command}, deadline);
  auto reply = receive(deadline);
  broken_ = false;
  return reply;
}

RedisReply RedisConnection::command(const RedisCommand& command,
                                    Deadline deadline) {
  auto reply = request(command, deadline);
  if (reply.isError()) {
    refuse(command.front(), reply);
  }
  return reply;
}

std::vector<RedisReply> RedisConnection::transaction(
    const std::vector<RedisCommand>& commands, Deadline deadline) {
  std::vector<RedisCommand> wrapped;
  wrapped.push_back({"MULTI"});
  wrapped.insert(wrapped.end(), commands.begin(), commands.end());
  wrapped.push_back({"EXEC"});
  send(wrapped, deadline);
  // The error of a command before EXEC names the cause. The error of EXEC only
  // says that something was wrong.
  RedisReply last;
  RedisReply refused;
  std::string refusedCommand;
  for (const auto& command : wrapped) {
    last = receive(deadline);
    if (last.isError() && !refused.isError()) {
      refused = last;
      refusedCommand = command.front();
    }
  }
  broken_ = false;
  if (refused.isError()) {
    refuse(refusedCommand, refused);
  }
  if (last.elements.size() != commands.size()) {
    GLOO_THROW_IO_EXCEPTION(
        "Redis at ", url_.display(), " did not run a transaction");
  }
  for (size_t i = 0; i < commands.size(); i++) {
    if (last.elements[i].isError()) {
      refuse(commands[i].front(), last.elements[i]);
    }
  }
  return std::move(last.elements);
}

}  // namespace rendezvous
}  // namespace gloo
