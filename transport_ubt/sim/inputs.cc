// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/inputs.h"

#include <algorithm>
#include <cmath>

#include "transport_ubt/sim/narrow_float.h"

namespace ubt::sim {
namespace {

// The relative error of one rounding.
double epsilon(ElementType type) {
  return type == ElementType::kFloat16    ? 0x1p-10
         : type == ElementType::kBfloat16 ? 0x1p-7
                                          : 0x1p-23;
}

}  // namespace

uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

double unit(uint64_t bits) {
  return static_cast<double>((bits >> 11) + 1) * 0x1p-53;
}

OpShape Inputs::shapeOf(const OpKey& key) const {
  const uint64_t hash = mix(options_.seed + key.first.first * 1000003ull +
                            key.first.second * 10007ull + key.second);
  OpShape shape;
  shape.fingerprint = options_.protocol.fingerprint();
  if (options_.groups > 1 && (options_.oneShape || hash / 32 % 8 > 0)) {
    shape.fingerprint |= OpShape::kHierarchical;
  }
  if (options_.oneShape) {
    shape.elements = options_.elementsMax;
    return shape;
  }
  // Most ops have one size, so that bounds are learned.
  shape.elements = hash % 4 == 0 ? hash / 8 % (options_.elementsMax + 1)
                                 : options_.elementsMax;
  shape.type = static_cast<ElementType>(hash / 4 % kElementTypes);
  return shape;
}

double Inputs::at(const OpKey& key,
                  ElementType type,
                  int rank,
                  size_t element) const {
  const uint64_t hash =
      mix(element % kPeriod * 64 + rank + key.second * 0x9e3779b97f4a7c15ULL +
          key.first.second * 40503 + key.first.first * 7919);
  const double whole = static_cast<double>(hash % 33) - 16;
  if (!options_.roughInputs) {
    return whole;
  }
  // Keeps sums within the range of the narrowest type.
  const uint64_t exponents = elementSize(type) == 2 ? 4 : 12;
  return roundedTo(type,
                   whole / 3 * static_cast<double>(1 << hash / 64 % exponents));
}

void Inputs::fill(const OpKey& key, int rank, std::byte* bucket) const {
  const OpShape shape = shapeOf(key);
  const size_t distinct = std::min<size_t>(shape.elements, kPeriod);
  for (size_t i = 0; i < distinct; i++) {
    storeElement(shape.type,
                 at(key, shape.type, rank, i),
                 bucket + i * elementSize(shape.type));
  }
  const size_t period = kPeriod * elementSize(shape.type);
  for (size_t done = period; done < shape.bytes(); done += period) {
    std::copy_n(
        bucket, std::min<size_t>(period, shape.bytes() - done), bucket + done);
  }
}

bool Inputs::isSum(const OpKey& key,
                   const std::vector<int>& contributors,
                   size_t element,
                   double got) const {
  const ElementType type = shapeOf(key).type;
  const RankGroups groups = options_.groupsOf(shapeOf(key));
  const auto count = static_cast<int>(contributors.size());
  std::vector<double> sums(groups.count());
  double sum = 0;
  double magnitude = 0;
  for (const int rank : contributors) {
    const double value = at(key, type, rank, element);
    double& part = sums[groups.groupOf(rank)];
    part = roundedTo(type, part + value);
    magnitude += std::abs(value);
  }
  for (const double part : sums) {
    sum = roundedTo(type, sum + part);
  }
  if (count > 0 && count < options_.ranks) {
    const double factor = static_cast<double>(options_.ranks) / count;
    sum = roundedTo(type, sum * factor);
    magnitude *= factor;
  }
  const bool byRank = options_.protocol.order == SumOrder::kRank &&
                      (options_.faults.unlike.policyRanks == 0 ||
                       options_.faults.unlike.order == SumOrder::kRank);
  const bool exact = !options_.roughInputs || byRank;
  return std::abs(got - sum) <=
         (exact ? 0 : options_.ranks * epsilon(type) * magnitude);
}

double Inputs::exactSum(const OpKey& key,
                        ElementType type,
                        size_t element) const {
  double sum = 0;
  for (int rank = 0; rank < options_.ranks; rank++) {
    sum += at(key, type, rank, element);
  }
  return sum;
}

}  // namespace ubt::sim
