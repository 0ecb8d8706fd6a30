// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/redis_url.h"

#include <gloo/common/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace gloo {
namespace rendezvous {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& url) {
  try {
    RedisUrl::parse(url);
  } catch (const InvalidOperationException& e) {
    return e.what();
  }
  return "accepted";
}

TEST(RedisUrl, HostAlone) {
  const auto url = RedisUrl::parse("redis://example");
  EXPECT_EQ(url.host, "example");
  EXPECT_EQ(url.port, 6379);
  EXPECT_EQ(url.database, 0);
  EXPECT_EQ(url.user, "");
  EXPECT_EQ(url.password, "");
  EXPECT_EQ(url.unixPath, "");
  EXPECT_EQ(url.display(), "redis://example:6379");
}

TEST(RedisUrl, AllParts) {
  const auto url = RedisUrl::parse("redis://me:secret@10.0.0.1:7000/3");
  EXPECT_EQ(url.user, "me");
  EXPECT_EQ(url.password, "secret");
  EXPECT_EQ(url.host, "10.0.0.1");
  EXPECT_EQ(url.port, 7000);
  EXPECT_EQ(url.database, 3);
  EXPECT_EQ(url.display(), "redis://10.0.0.1:7000/3");
}

TEST(RedisUrl, PasswordAlone) {
  const auto url = RedisUrl::parse("redis://:secret@host");
  EXPECT_EQ(url.user, "");
  EXPECT_EQ(url.password, "secret");
}

TEST(RedisUrl, Ipv6) {
  const auto url = RedisUrl::parse("redis://:x@[fe80::1%eth0]:1234");
  EXPECT_EQ(url.host, "fe80::1%eth0");
  EXPECT_EQ(url.port, 1234);
  EXPECT_EQ(RedisUrl::parse("redis://[::1]").display(), "redis://[::1]:6379");
}

TEST(RedisUrl, UnixSocket) {
  const auto url = RedisUrl::parse("unix:///run/redis/r.sock?db=2");
  EXPECT_EQ(url.unixPath, "/run/redis/r.sock");
  EXPECT_EQ(url.database, 2);
  EXPECT_EQ(url.display(), "unix:///run/redis/r.sock?db=2");
  EXPECT_EQ(RedisUrl::parse("unix://:pw@/r").password, "pw");
  EXPECT_EQ(RedisUrl::parse("unix:///a@b").unixPath, "/a@b");
}

TEST(RedisUrl, PercentDecoding) {
  const auto url = RedisUrl::parse("redis://a%40b:p%3A%2f%25@h");
  EXPECT_EQ(url.user, "a@b");
  EXPECT_EQ(url.password, "p:/%");
  EXPECT_EQ(RedisUrl::parse("redis://:a?b@h").password, "a?b");
  EXPECT_EQ(RedisUrl::parse("unix:///a%20b").unixPath, "/a b");
}

TEST(RedisUrl, RefusalsNameCulpritAndRemedy) {
  EXPECT_THAT(refusal("localhost:6379"), HasSubstr("write redis://host:port"));
  EXPECT_THAT(refusal("http://h"), HasSubstr("no scheme"));
  EXPECT_THAT(refusal("rediss://h"), HasSubstr("TLS is not supported"));
  EXPECT_THAT(refusal("redis://"), HasSubstr("no host"));
  EXPECT_THAT(refusal("redis://:6379"), HasSubstr("no host"));
  EXPECT_THAT(refusal("redis://h:0"), HasSubstr("1 to 65535"));
  EXPECT_THAT(refusal("redis://h:65536"), HasSubstr("'65536' is no port"));
  EXPECT_THAT(refusal("redis://h:"), HasSubstr("'' is no port"));
  EXPECT_THAT(refusal("redis://h:12a"),
              HasSubstr("is no port; write a number"));
  EXPECT_THAT(refusal("redis://h/x"), HasSubstr("'x' is no database"));
  EXPECT_THAT(refusal("redis://h?db=-1"), HasSubstr("'-1' is no database"));
  EXPECT_THAT(refusal("redis://h?tls=1"), HasSubstr("parameter 'tls'"));
  EXPECT_THAT(refusal("redis://::1"), HasSubstr("brackets"));
  EXPECT_THAT(refusal("redis://[::1"), HasSubstr("closing ']'"));
  EXPECT_THAT(refusal("redis://[::1]x"), HasSubstr("only :port"));
  EXPECT_THAT(refusal("redis://%zz@h"), HasSubstr("%25"));
  EXPECT_THAT(refusal("redis://a%00@h"), HasSubstr("%25"));
  EXPECT_THAT(refusal("unix://run/r.sock"), HasSubstr("three slashes"));
  EXPECT_THAT(refusal("unix:///" + std::string(200, 'a')),
              HasSubstr("takes 107"));
}

TEST(RedisUrl, NeverShowsThePassword) {
  for (const std::string url : {"redis://me:hunter2@h:bad",
                                "redis://:hunter2/x@h",
                                "redis://:hunter2@h?x=1",
                                "redis://:hunter2%zz@h",
                                "unix://:hunter2@relative",
                                "redis://:hunter2",
                                "redis://me:hunter2",
                                "redis://me:x/hunter2",
                                "redis://me:x?hunter2",
                                "me:hunter2@host"}) {
    EXPECT_THAT(refusal(url), Not(HasSubstr("hunter2"))) << url;
    EXPECT_THAT(refusal(url), Not(HasSubstr("accepted"))) << url;
  }
  EXPECT_THAT(RedisUrl::parse("redis://me:hunter2@h").display(),
              Not(HasSubstr("hunter2")));
}

TEST(RedisUrl, PasswordFromEnvironment) {
  setenv("GLOO_UBT_REDIS_PASSWORD", "fromenv", 1);
  EXPECT_EQ(RedisUrl::parseWithEnvironment("redis://h").password, "fromenv");
  EXPECT_EQ(RedisUrl::parseWithEnvironment("redis://:url@h").password, "url");
  unsetenv("GLOO_UBT_REDIS_PASSWORD");
  EXPECT_EQ(RedisUrl::parseWithEnvironment("redis://h").password, "");
}

TEST(RedisUrl, PasswordFromFile) {
  test::TemporaryDirectory directory;
  const auto path = directory.path() + "/password";
  const auto parse = [] {
    return RedisUrl::parseWithEnvironment("redis://h").password;
  };
  setenv("GLOO_UBT_REDIS_PASSWORD_FILE", path.c_str(), 1);
  EXPECT_THROW(parse(), InvalidOperationException);  // no such file
  std::ofstream(path) << "\n";
  EXPECT_THROW(parse(), InvalidOperationException);  // empty file
  std::ofstream(path) << " from file \n";
  EXPECT_EQ(parse(), " from file ");
  setenv("GLOO_UBT_REDIS_PASSWORD", "fromenv", 1);
  EXPECT_THROW(parse(), InvalidOperationException);  // both
  unsetenv("GLOO_UBT_REDIS_PASSWORD");
  unsetenv("GLOO_UBT_REDIS_PASSWORD_FILE");
}

}  // namespace
}  // namespace rendezvous
}  // namespace gloo
