// SPDX-License-Identifier: Apache-2.0
//
// The purpose of the transform: the error of a shard after packet loss.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/transport_ubt/kernels/scalar_hadamard.h"
#include "transport_ubt/kernels/hadamard.h"

namespace ubt {
namespace testing {
namespace {

constexpr auto kType = ElementType::kFloat64;  // so that rounding hides nothing
using Shard = std::vector<double>;

// Which coefficients arrived.
using Arrived = std::vector<bool>;

void lose(Arrived& arrived, size_t begin, size_t length) {
  const size_t end = std::min(begin + length, arrived.size());
  std::fill(arrived.begin() + std::min(begin, end), arrived.begin() + end, 0);
}

size_t arrivedOf(const Block& block, const Arrived& arrived) {
  size_t sum = 0;
  for (size_t k = 0; k < 64; k++) {
    sum += arrived[block.at(k)];
  }
  return sum;
}

Shard transformedShard(Shard shard, uint64_t seed) {
  RC_ASSERT(hadamardTransform(kType, shard.data(), shard.size(), seed, 1));
  return shard;
}

// The received shard, with lost coefficients set to zero.
Shard receivedShard(Shard shard, const Arrived& arrived, uint64_t seed) {
  for (size_t i = 0; i < shard.size(); i++) {
    shard[i] = arrived[i] ? shard[i] : 0;
  }
  hadamardInverse(kType, shard.data(), shard.size(), seed);
  return shard;
}

void rescale(Shard& shard, const Arrived& arrived) {
  for (const auto& block : blocksOf(kType, shard.size(), 0)) {
    const size_t received = arrivedOf(block, arrived);
    for (size_t k = 0; k < 64 && received > 0; k++) {
      shard[block.at(k)] *= 64.0 / received;
    }
  }
}

// The received shard, averaged over `seeds`.
Shard meanOver(const std::vector<uint64_t>& seeds,
               const Shard& shard,
               const Arrived& arrived) {
  Shard mean(shard.size());
  for (const uint64_t seed : seeds) {
    const auto back =
        receivedShard(transformedShard(shard, seed), arrived, seed);
    for (size_t i = 0; i < mean.size(); i++) {
      mean[i] += back[i] / seeds.size();
    }
  }
  rescale(mean, arrived);
  return mean;
}

// How far the mean over `seeds` independent seeds may be from element `at` of a
// block. An unbiased mean exceeds this with a probability of at most 2 *
// exp(-kExponent).
//
// Let W(d) be the sum over arrived k of (-1)^popcount(k & d), and r = W(0).
// Then the error of one estimate is the sum over d != 0 of W(d) / r * x[at ^ d]
// times a product of two signs. Such products are uncorrelated, because signs
// are pairwise independent. So the variance is the sum of the squares, the
// largest value is the sum of magnitudes, and Bernstein's inequality gives the
// bound.
constexpr double kExponent = 34;  // 2 * exp(-34) = 3.4e-15

double toleranceOf(const Values& x,
                   size_t at,
                   const Values& walsh,
                   size_t seeds) {
  double variance = 0;
  double largest = 0;
  for (size_t d = 1; d < 64; d++) {
    const double term = walsh[d] / walsh[0] * x[at ^ d];
    variance += term * term;
    largest += std::fabs(term);
  }
  const double linear = kExponent * largest / (3 * seeds);
  return linear +
         std::sqrt(linear * linear + 2 * kExponent * variance / seeds) + 1e-9;
}

Values walshOf(const Block& block, const Arrived& arrived) {
  Values walsh = {};
  for (size_t d = 0; d < 64; d++) {
    for (size_t k = 0; k < 64; k++) {
      walsh[d] += arrived[block.at(k)] ? hadamardEntry(k, d) : 0;
    }
  }
  return walsh;
}

// The number of elements with an error that chance cannot explain. Leaves out
// blocks without any arrived coefficient, and elements that are sent plain.
size_t biasedElements(const Shard& shard,
                      const Shard& mean,
                      const Arrived& arrived,
                      size_t seeds) {
  size_t biased = 0;
  for (const auto& block : blocksOf(kType, shard.size(), 0)) {
    if (arrivedOf(block, arrived) == 0) {
      continue;
    }
    const auto x = gather(shard, block);
    const auto walsh = walshOf(block, arrived);
    for (size_t k = 0; k < 64; k++) {
      const double off = std::fabs(mean[block.at(k)] - x[k]);
      biased += off > toleranceOf(x, k, walsh, seeds);
    }
  }
  return biased;
}

constexpr size_t kColumns = 24;
constexpr size_t kCount = 64 * kColumns + 9;
constexpr size_t kSeeds = 512;

std::vector<uint64_t> seedsFrom(uint64_t first) {
  std::vector<uint64_t> seeds(kSeeds);
  for (size_t i = 0; i < kSeeds; i++) {
    seeds[i] = first + i;  // as operations are counted
  }
  return seeds;
}

// Values of both signs, plus an offset so that a block's mean is not zero.
Shard anyShard(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0.5, 1);
  Shard shard(kCount);
  std::generate(shard.begin(), shard.end(), [&] { return normal(random); });
  return shard;
}

enum class Pattern { kRandom, kBurst, kTail, kRows, kPacket, kMany };

Arrived anyLoss(Pattern pattern, uint64_t seed) {
  std::mt19937_64 random(seed);
  Arrived arrived(kCount, true);
  const size_t packet = 20 + random() % 100;
  switch (pattern) {
    case Pattern::kRandom: {  // each element independently
      const uint64_t percent = 1 + random() % 90;
      for (size_t i = 0; i < kCount; i++) {
        arrived[i] = random() % 100 >= percent;
      }
      break;
    }
    case Pattern::kBurst:  // up to half of the shard
      lose(arrived, random() % kCount, 1 + random() % (kCount / 2));
      break;
    case Pattern::kTail:
      lose(arrived, random() % kCount, kCount);
      break;
    case Pattern::kRows:
      for (size_t row = 0; row < 64; row++) {
        if (random() % 4 == 0) {
          lose(arrived, kCount % 64 + row * kColumns, kColumns);
        }
      }
      break;
    case Pattern::kPacket:
      lose(arrived, random() % kCount / packet * packet, packet);
      break;
    case Pattern::kMany:
      for (size_t begin = 0; begin < kCount; begin += packet) {
        lose(arrived, begin, random() % 3 == 0 ? packet : 0);
      }
      break;
  }
  return arrived;
}

// 1,536 elements in each of 100 cases, at 3.4e-15: a false alarm in 2 * 10^9
// runs. RapidCheck prints its seed, and RC_PARAMS="seed=..." replays it.
RC_GTEST_PROP(HadamardLoss, isUnbiasedWhateverIsLost, ()) {
  const auto shard = anyShard(*rc::gen::arbitrary<uint64_t>());
  const auto pattern = *rc::gen::element(Pattern::kRandom,
                                         Pattern::kBurst,
                                         Pattern::kTail,
                                         Pattern::kRows,
                                         Pattern::kPacket,
                                         Pattern::kMany);
  const auto arrived = anyLoss(pattern, *rc::gen::arbitrary<uint64_t>());
  const auto seeds = seedsFrom(*rc::gen::arbitrary<uint64_t>());
  const auto mean = meanOver(seeds, shard, arrived);
  RC_ASSERT(biasedElements(shard, mean, arrived, kSeeds) == 0U);
}

// Shows that the property above can fail: with equal signs or no signs, the
// same elements lose each time.
TEST(HadamardLoss, isBiasedWithoutRandomSigns) {
  const auto shard = anyShard(1);
  for (const auto pattern :
       {Pattern::kRandom, Pattern::kRows, Pattern::kMany}) {
    const auto arrived = anyLoss(pattern, 2);
    const std::vector<uint64_t> same(kSeeds, 3);
    const auto mean = meanOver(same, shard, arrived);
    EXPECT_GT(biasedElements(shard, mean, arrived, kSeeds), kCount / 10);

    // The transform's D times the same D is the identity.
    auto unsigned_ = shard;
    const auto blocks = blocksOf(kType, kCount, 3);
    const auto flip = [&](Shard& data) {
      for (const auto& block : blocks) {
        for (size_t k = 0; k < 64; k++) {
          data[block.at(k)] *= block.sign(k);
        }
      }
    };
    flip(unsigned_);
    auto plainMean = meanOver(same, unsigned_, arrived);
    flip(plainMean);
    EXPECT_GT(biasedElements(shard, plainMean, arrived, kSeeds), kCount / 10);
  }
}

// The sum of the elements' squared errors.
double squaredError(const Shard& a, const Shard& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); i++) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return sum;
}

double largestError(const Shard& a, const Shard& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); i++) {
    largest = std::max(largest, std::fabs(a[i] - b[i]));
  }
  return largest;
}

constexpr size_t kPacket = 350;
constexpr size_t kWide = 64 * 1000;  // rows of 1,000, longer than a packet

// One element of each block is not zero, so all coefficients of a block have
// the same magnitude: each has exactly a 64th of its energy.
TEST(HadamardLoss, lostPacketTakesA64thOfEachBlockThatItTouches) {
  std::mt19937_64 random(4);
  Shard shard(kWide);
  const auto blocks = blocksOf(kType, kWide, 0);
  for (const auto& block : blocks) {
    shard[block.at(random() % 64)] = 1 + random() % 100;
  }
  const auto sent = transformedShard(shard, 5);
  for (const size_t begin : {0, 640, 900, 31 * 1000 + 800, 63 * 1000 + 650}) {
    Arrived arrived(kWide, true);
    lose(arrived, begin, kPacket);
    const auto back = receivedShard(sent, arrived, 5);
    size_t touched = 0;
    for (const auto& block : blocks) {
      const size_t lost = 64 - arrivedOf(block, arrived);
      ASSERT_LE(lost, 1U);
      touched += lost;
      double energy = 0;
      double error = 0;
      for (size_t k = 0; k < 64; k++) {
        const size_t i = block.at(k);
        energy += shard[i] * shard[i];
        error += (back[i] - shard[i]) * (back[i] - shard[i]);
      }
      ASSERT_NEAR(error, lost * energy / 64, 1e-12 * energy);
    }
    EXPECT_EQ(kPacket, touched);
  }
}

// In ordinary blocks the loss is a 64th on average. Over the 350 blocks of a
// packet and 64 seeds, the mean's standard deviation is 1 % of it. (A
// coefficient is nearly normal, so its square varies by the root of 2.) The
// allowed 7 % are 7 standard deviations.
TEST(HadamardLoss, lostPacketTakesA64thOfOrdinaryBlocksOnAverage) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  Shard shard(kWide);
  std::generate(shard.begin(), shard.end(), [&] { return normal(random); });
  Arrived arrived(kWide, true);
  lose(arrived, 17 * 1000 + 600, kPacket);
  double energy = 0;
  for (const auto& block : blocksOf(kType, kWide, 0)) {
    for (size_t k = 0; k < 64 && arrivedOf(block, arrived) < 64; k++) {
      energy += shard[block.at(k)] * shard[block.at(k)];
    }
  }
  double error = 0;
  constexpr size_t kTimes = 64;
  for (uint64_t seed = 0; seed < kTimes; seed++) {
    const auto back =
        receivedShard(transformedShard(shard, seed), arrived, seed);
    error += squaredError(back, shard) / kTimes;
  }
  EXPECT_NEAR(error, energy / 64, 0.07 * energy / 64);
}

// Little noise and a few spikes, each with a packet's whole energy. On average
// over packets both ways lose the same, but the transform never loses as much
// at once.
TEST(HadamardLoss, spreadsTheLossOfSpikes) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 0.01);
  Shard shard(kWide);
  std::generate(shard.begin(), shard.end(), [&] { return normal(random); });
  for (int spike = 0; spike < 10; spike++) {
    shard[random() % kWide] = 100;
  }
  const auto sent = transformedShard(shard, 8);
  double plainSum = 0;
  double sum = 0;
  double plainWorst = 0;
  double worst = 0;
  double plainLargest = 0;
  double largest = 0;
  for (size_t begin = 0; begin < kWide; begin += kPacket) {
    Arrived arrived(kWide, true);
    lose(arrived, begin, kPacket);
    auto plain = shard;
    for (size_t i = 0; i < kWide; i++) {
      plain[i] = arrived[i] ? plain[i] : 0;
    }
    const auto back = receivedShard(sent, arrived, 8);
    plainSum += squaredError(plain, shard);
    sum += squaredError(back, shard);
    plainWorst = std::max(plainWorst, squaredError(plain, shard));
    worst = std::max(worst, squaredError(back, shard));
    plainLargest = std::max(plainLargest, largestError(plain, shard));
    largest = std::max(largest, largestError(back, shard));
  }
  EXPECT_NEAR(plainSum, sum, 1e-9 * sum);
  EXPECT_EQ(100, plainLargest);
  EXPECT_LT(largest, 100.0 / 64 * 1.1);
  EXPECT_GT(plainWorst, 9999);
  EXPECT_LT(worst, plainWorst / 10);
}

}  // namespace
}  // namespace testing
}  // namespace ubt
