// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/redis_url.h"

#include <gloo/common/error.h>
#include <sys/un.h>

#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "transport_ubt/config/settings.h"

namespace gloo {
namespace rendezvous {

namespace {

constexpr char kTcpScheme[] = "redis://";
constexpr char kUnixScheme[] = "unix://";
constexpr char kPasswordFileVariable[] = "GLOO_UBT_REDIS_PASSWORD_FILE";

bool startsWith(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

// The part of a URL that may be shown. All between the scheme and the last '@'
// can be part of a password. If the '@' was forgotten, so can a port that is
// not a number.
std::string redact(const std::string& text) {
  const auto scheme = text.find("://");
  const auto begin = scheme == std::string::npos ? 0 : scheme + 3;
  const auto at = text.rfind('@');
  if (at != std::string::npos) {
    return text.substr(0, begin) + "***" + text.substr(at);
  }
  const auto colon = text.find(':', begin);
  const bool ipv6 = begin < text.size() && text[begin] == '[';
  if (colon == std::string::npos || ipv6 || startsWith(text, kUnixScheme)) {
    return text;
  }
  const auto end = text.find_first_not_of("0123456789", colon + 1);
  const bool number =
      end == std::string::npos || text[end] == '/' || text[end] == '?';
  return number ? text : text.substr(0, colon + 1) + "***";
}

// A piece of a URL, in quotes; '***' if it may not be shown.
std::string quote(const std::string& piece, const std::string& url) {
  const bool shown = redact(url).find(piece) != std::string::npos;
  return "'" + (shown ? piece : "***") + "'";
}

// Throws an error of `args`: the fault of the URL, then the remedy.
template <typename... Args>
[[noreturn]] void refuse(const std::string& url, const Args&... args) {
  throw InvalidOperationException(
      MakeString("Redis URL '", redact(url), "': ", args...));
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string percentDecode(const std::string& part,
                          const char* what,
                          const std::string& url) {
  std::string result;
  for (size_t i = 0; i < part.size(); i++) {
    if (part[i] != '%') {
      result += part[i];
      continue;
    }
    const int high = i + 1 < part.size() ? hexDigit(part[i + 1]) : -1;
    const int low = i + 2 < part.size() ? hexDigit(part[i + 2]) : -1;
    if (high < 0 || low < 0 || high * 16 + low == 0) {
      refuse(url,
             "the ",
             what,
             " holds a '%' that does not begin a percent-encoded byte; write a "
             "percent sign as %25");
    }
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

std::optional<int> parseNumber(const std::string& text) {
  if (text.empty() || text.size() > 9) {
    return std::nullopt;
  }
  int value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    value = value * 10 + (c - '0');
  }
  return value;
}

void parseDatabase(const std::string& text,
                   const std::string& url,
                   RedisUrl* result) {
  const auto database = parseNumber(text);
  if (!database) {
    refuse(url,
           quote(text, url),
           " is no database number; write one from 0 up, as in "
           "redis://host:6379/0 or unix:///path?db=0");
  }
  result->database = *database;
}

// Takes "?db=N" off the end of `rest`.
void takeQuery(const std::string& url, std::string* rest, RedisUrl* result) {
  const auto question = rest->find('?');
  if (question == std::string::npos) {
    return;
  }
  std::stringstream query(rest->substr(question + 1));
  rest->resize(question);
  std::string parameter;
  while (std::getline(query, parameter, '&')) {
    if (!startsWith(parameter, "db=")) {
      refuse(url,
             "unknown parameter ",
             quote(parameter.substr(0, parameter.find('=')), url),
             "; only db=N is understood");
    }
    parseDatabase(parameter.substr(3), url, result);
  }
}

// Takes "user:password@" off the start of `rest`.
void takeLogin(const std::string& url, std::string* rest, RedisUrl* result) {
  // A path may have an '@', but a login has no bare '/'.
  const auto at = rest->substr(0, rest->find('/')).rfind('@');
  if (at == std::string::npos) {
    if (rest->rfind('@') != std::string::npos && result->unixPath.empty() &&
        startsWith(url, kTcpScheme)) {
      refuse(url, "the password holds a '/'; write it as %2F");
    }
    return;
  }
  const auto login = rest->substr(0, at);
  rest->erase(0, at + 1);
  const auto colon = login.find(':');
  if (colon == std::string::npos) {
    result->user = percentDecode(login, "user", url);
    return;
  }
  result->user = percentDecode(login.substr(0, colon), "user", url);
  result->password = percentDecode(login.substr(colon + 1), "password", url);
}

void parsePort(const std::string& text,
               const std::string& url,
               RedisUrl* result) {
  const auto port = parseNumber(text);
  if (!port || *port < 1 || *port > 65535) {
    refuse(url,
           quote(text, url),
           " is no port; write a number from 1 to 65535 (Redis' own is 6379)");
  }
  result->port = *port;
}

void parseTcp(const std::string& url, std::string rest, RedisUrl* result) {
  takeLogin(url, &rest, result);
  takeQuery(url, &rest, result);
  const auto slash = rest.find('/');
  if (slash != std::string::npos) {
    if (slash + 1 < rest.size()) {
      parseDatabase(rest.substr(slash + 1), url, result);
    }
    rest.resize(slash);
  }
  if (startsWith(rest, "[")) {
    const auto bracket = rest.find(']');
    if (bracket == std::string::npos) {
      refuse(url, "the IPv6 address has no closing ']'");
    }
    result->host = rest.substr(1, bracket - 1);
    rest.erase(0, bracket + 1);
    if (!rest.empty() && rest[0] != ':') {
      refuse(
          url, quote(rest, url), " follows the IPv6 address; only :port may");
    }
  } else {
    const auto colon = rest.find(':');
    if (colon != std::string::npos && rest.rfind(':') != colon) {
      refuse(
          url,
          "more than one ':' in the host; an IPv6 address stands in brackets, "
          "as in redis://[::1]:6379");
    }
    result->host = percentDecode(rest.substr(0, colon), "host", url);
    rest.erase(0, colon == std::string::npos ? rest.size() : colon);
  }
  if (result->host.empty()) {
    refuse(url, "no host; write redis://host:port, as in redis://10.0.0.1");
  }
  if (!rest.empty()) {
    parsePort(rest.substr(1), url, result);
  }
}

void parseUnix(const std::string& url, std::string rest, RedisUrl* result) {
  takeLogin(url, &rest, result);
  takeQuery(url, &rest, result);
  if (!startsWith(rest, "/")) {
    refuse(url,
           "the socket's path is not absolute; write three slashes, as in "
           "unix:///run/redis/redis.sock");
  }
  result->unixPath = percentDecode(rest, "path", url);
  constexpr size_t kPathMax = sizeof(sockaddr_un::sun_path) - 1;
  if (result->unixPath.size() > kPathMax) {
    refuse(url,
           "the socket's path has ",
           result->unixPath.size(),
           " bytes, the system takes ",
           kPathMax,
           "; give Redis a shorter one");
  }
}

std::string readPasswordFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  auto password = content.str();
  while (!password.empty() &&
         (password.back() == '\n' || password.back() == '\r')) {
    password.pop_back();
  }
  if (!file || password.empty()) {
    throw InvalidOperationException(MakeString(
        kPasswordFileVariable,
        " names '",
        path,
        "', which ",
        file.is_open() ? "is empty" : "cannot be read",
        "; name a readable file that holds the Redis password, or unset the "
        "variable"));
  }
  return password;
}

}  // namespace

RedisUrl RedisUrl::parse(const std::string& text) {
  RedisUrl result;
  if (startsWith(text, kTcpScheme)) {
    parseTcp(text, text.substr(sizeof(kTcpScheme) - 1), &result);
  } else if (startsWith(text, kUnixScheme)) {
    parseUnix(text, text.substr(sizeof(kUnixScheme) - 1), &result);
  } else if (startsWith(text, "rediss://")) {
    refuse(text,
           "TLS is not supported; tunnel it (stunnel, ssh -L) and name the "
           "tunnel's end with redis:// or unix://");
  } else {
    refuse(text,
           "no scheme; write redis://host:port or unix:///path/to/socket");
  }
  return result;
}

RedisUrl RedisUrl::parseWithEnvironment(const std::string& text) {
  auto result = parse(text);
  if (!result.password.empty()) {
    return result;
  }
  const auto settings = ubt::Settings::fromEnvironment();
  if (settings.redisPasswordFile.empty()) {
    result.password = settings.redisPassword;
  } else if (settings.redisPassword.empty()) {
    result.password = readPasswordFile(settings.redisPasswordFile);
  } else {
    throw InvalidOperationException(MakeString("GLOO_UBT_REDIS_PASSWORD and ",
                                               kPasswordFileVariable,
                                               " are both set; unset one"));
  }
  return result;
}

std::string RedisUrl::display() const {
  std::stringstream text;
  if (!unixPath.empty()) {
    text << kUnixScheme << unixPath;
    if (database != 0) {
      text << "?db=" << database;
    }
    return text.str();
  }
  const bool ipv6 = host.find(':') != std::string::npos;
  text << kTcpScheme << (ipv6 ? "[" : "") << host << (ipv6 ? "]" : "") << ':'
       << port;
  if (database != 0) {
    text << '/' << database;
  }
  return text.str();
}

}  // namespace rendezvous
}  // namespace gloo
