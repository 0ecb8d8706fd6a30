// SPDX-License-Identifier: Apache-2.0
#include "benchmark/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gloo {
namespace benchmark {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Splits at spaces.
std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> result;
  std::stringstream stream(line);
  for (std::string word; stream >> word;) {
    result.push_back(word);
  }
  return result;
}

Options parse(const std::string& line) {
  return parseOptions(words(line), "  some_benchmark\n");
}

// A command line that is complete together with the test's options.
Options parseWith(const std::string& line) {
  return parse("-s 4 -r 1 --shared-path /p " + line + " allgather");
}

std::string refusal(const std::string& line) {
  try {
    parse(line);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "accepted";
}

std::string refusalWith(const std::string& line) {
  return refusal("-s 4 -r 1 --shared-path /p " + line + " allgather");
}

TEST(Options, Defaults) {
  const auto options = parseWith("");
  EXPECT_EQ(options.benchmark, "allgather");
  EXPECT_EQ(options.size, 4);
  EXPECT_EQ(options.rank, 1);
  EXPECT_EQ(options.sharedPath, "/p");
  EXPECT_EQ(options.prefix, "prefix");
  EXPECT_EQ(options.transport, "tcp");
  EXPECT_TRUE(options.tcpDevices.empty());
  EXPECT_EQ(options.elements, 0);
  EXPECT_EQ(options.inputs, 1);
  EXPECT_EQ(options.warmupIterations, 5);
  EXPECT_EQ(options.iterationCount, 0);
  EXPECT_EQ(options.iterationTime, seconds(2));
  EXPECT_EQ(options.threads, 1);
  EXPECT_EQ(options.base, 2);
  EXPECT_EQ(options.messages, 10000);
  EXPECT_EQ(options.destinations, 1);
  EXPECT_TRUE(options.verify);
  EXPECT_FALSE(options.sync);
  EXPECT_FALSE(options.busyPoll);
  EXPECT_FALSE(options.showNanos);
  EXPECT_FALSE(options.halfPrecision);
  EXPECT_FALSE(options.showAllErrors);
}

TEST(Options, EveryFlagOfGloo) {
  const auto options = parse(
      "--size=8 --rank=3 --redis-host=h --redis-port=7 --prefix=x "
      "--transport=tcp --tcp-device=a,b --sync=true --busy-poll=yes "
      "--no-verify --show-all-errors --inputs=2 --elements=3 "
      "--warmup-iters=4 --iteration-count=5 --iteration-time=500ms "
      "--threads=6 --nanos --gpudirect --halfprecision --destinations=9 "
      "--base=10 --messages=11 --ib-device=d --ib-port=1 --ib-index=0 "
      "--pkey=k --cert=c --ca-file=f --ca-path=p broadcast");
  EXPECT_EQ(options.size, 8);
  EXPECT_EQ(options.rank, 3);
  EXPECT_EQ(options.redisUrl, "redis://h:7");
  EXPECT_EQ(options.prefix, "x");
  EXPECT_THAT(options.tcpDevices, ElementsAre("a", "b"));
  EXPECT_TRUE(options.sync);
  EXPECT_TRUE(options.busyPoll);
  EXPECT_FALSE(options.verify);
  EXPECT_TRUE(options.showAllErrors);
  EXPECT_EQ(options.inputs, 2);
  EXPECT_EQ(options.elements, 3);
  EXPECT_EQ(options.warmupIterations, 4);
  EXPECT_EQ(options.iterationCount, 5);
  EXPECT_EQ(options.iterationTime, milliseconds(500));
  EXPECT_EQ(options.threads, 6);
  EXPECT_TRUE(options.showNanos);
  EXPECT_TRUE(options.halfPrecision);
  EXPECT_EQ(options.destinations, 9);
  EXPECT_EQ(options.base, 10);
  EXPECT_EQ(options.messages, 11);
  EXPECT_EQ(options.benchmark, "broadcast");
}

TEST(Options, ShortFlagsAsInGloo) {
  const auto options =
      parse("-s 2 -r1 -h 10.0.0.1 -p 1234 -x job -t tcp reduce");
  EXPECT_EQ(options.size, 2);
  EXPECT_EQ(options.rank, 1);
  EXPECT_EQ(options.redisUrl, "redis://10.0.0.1:1234");
  EXPECT_EQ(options.prefix, "job");
  EXPECT_EQ(options.transport, "tcp");
}

TEST(Options, FormsThatGetoptAlsoTakes) {
  // Abbreviations, the benchmark's name first, the last of two values.
  const auto options =
      parse("allgather --siz 2 --elem=10 --shared /p --elements 20");
  EXPECT_EQ(options.elements, 20);
}

TEST(Options, RedisHosts) {
  EXPECT_EQ(parse("-s 2 -h host x").redisUrl, "redis://host:6379");
  EXPECT_EQ(parse("-s 2 -h ::1 x").redisUrl, "redis://[::1]:6379");
  EXPECT_EQ(parse("-s 2 --redis-url unix:///r?db=1 x").redisUrl,
            "unix:///r?db=1");
}

TEST(Options, Booleans) {
  for (const std::string yes : {"1", "true", "True", "yes", "Y"}) {
    EXPECT_TRUE(parseWith("--sync " + yes).sync) << yes;
  }
  for (const std::string no : {"0", "false", "no", "off"}) {
    EXPECT_FALSE(parseWith("--sync " + no).sync) << no;
  }
}

TEST(Options, Durations) {
  const auto time = [](const std::string& text) {
    return parseWith("--iteration-time " + text).iterationTime;
  };
  EXPECT_EQ(time("3"), seconds(3));
  EXPECT_EQ(time("3s"), seconds(3));
  EXPECT_EQ(time("250ms"), milliseconds(250));
  EXPECT_EQ(time("10us"), std::chrono::microseconds(10));
  for (const std::string bad :
       {"x", "3m", "-1s", "0s", "1.5s", "99999999999s"}) {
    EXPECT_THAT(refusalWith("--iteration-time " + bad),
                HasSubstr("as in 2s or 500ms"))
        << bad;
  }
}

TEST(Options, NegativeCountsMeanTheDefault) {
  EXPECT_LE(parseWith("--iteration-count -1").iterationCount, 0);
  EXPECT_LE(parseWith("--elements -1").elements, 0);
}

TEST(Options, ErrorsNameCulpritAndRemedy) {
  EXPECT_THAT(refusal("-s 2 --shared-path /p"),
              HasSubstr("missing benchmark specifier"));
  EXPECT_THAT(refusal("--shared-path /p x"), HasSubstr("--size"));
  EXPECT_THAT(refusal("-s 2 --shared-path /p a b"),
              HasSubstr("one benchmark at a time"));
  EXPECT_THAT(refusal("-s 2 x"), HasSubstr("add --redis-host HOST"));
  EXPECT_THAT(refusalWith("--elments 3"),
              HasSubstr("did you mean --elements?"));
  EXPECT_THAT(refusalWith("--s 3"),
              HasSubstr("--size or --shared-path or --sync"));
  EXPECT_THAT(refusalWith("--elements abc"), HasSubstr("whole number"));
  EXPECT_THAT(refusalWith("--elements abc"), HasSubstr("--elements"));
  EXPECT_THAT(refusalWith("--inputs 0"), HasSubstr("'0' is below 1"));
  EXPECT_THAT(refusalWith("--rank 4"), HasSubstr("from 0 to 3"));
  EXPECT_THAT(refusalWith("--rank -1"), HasSubstr("from 0 to 3"));
  EXPECT_THAT(refusalWith("-z"), HasSubstr("-z"));
  EXPECT_THAT(refusalWith("--busy-poll true"), HasSubstr("add --sync true"));
  EXPECT_THAT(refusalWith("-h a --redis-url redis://b"),
              HasSubstr("one of the two"));
  EXPECT_THAT(refusalWith("-h a -p 70000"), HasSubstr("1 to 65535"));
}

TEST(Options, AProcessAloneNeedsNoRendezvous) {
  EXPECT_EQ(parse("-s 1 x").size, 1);
}

TEST(Options, Help) {
  try {
    parse("--help");
    FAIL();
  } catch (const HelpRequest& e) {
    const std::string text = e.what();
    EXPECT_THAT(text, HasSubstr("some_benchmark"));
    EXPECT_THAT(text, HasSubstr("-h,--redis-host=HOST"));
    for (const auto& line : words(text)) {
      EXPECT_THAT(line, ::testing::Not(HasSubstr("pkey")));
    }
  }
}

}  // namespace
}  // namespace benchmark
}  // namespace gloo
