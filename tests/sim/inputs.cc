// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/inputs.h"

#include <cmath>
#include <cstring>

namespace ubt::sim {
namespace {

// The value as the type holds it.
double rounded(const OpShape& shape, double value) {
  return shape.type == ElementType::kFloat64 ? value
                                             : static_cast<float>(value);
}

}  // namespace

uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

OpShape Inputs::shapeOf(const OpKey& key) const {
  const uint64_t hash = mix(options_.seed + key.first.first * 1000003ull +
                            key.first.second * 10007ull + key.second);
  OpShape shape;
  // Mostly of one size, so that bounds are learned.
  shape.elements = hash % 4 == 0 ? hash / 8 % (options_.elementsMax + 1)
                                 : options_.elementsMax;
  shape.type = hash % 16 < 8 ? ElementType::kFloat32 : ElementType::kFloat64;
  shape.fingerprint = options_.protocol.fingerprint();
  return shape;
}

double Inputs::at(const OpKey& key, int rank, size_t element) const {
  const uint64_t hash =
      mix(element * 64 + rank +
          mix(key.second * 16 + key.first.second * 4 + key.first.first));
  const double whole = static_cast<double>(hash % 33) - 16;
  return options_.roughInputs
             ? rounded(shapeOf(key),
                       std::ldexp(whole / 3, static_cast<int>(hash / 64 % 12)))
             : whole;
}

void Inputs::fill(const OpKey& key, int rank, std::byte* bucket) const {
  const OpShape shape = shapeOf(key);
  for (size_t i = 0; i < shape.elements; i++) {
    const double value = at(key, rank, i);
    if (shape.type == ElementType::kFloat64) {
      std::memcpy(bucket + i * 8, &value, 8);
    } else {
      const float narrow = static_cast<float>(value);
      std::memcpy(bucket + i * 4, &narrow, 4);
    }
  }
}

bool Inputs::isSum(const OpKey& key,
                   const std::vector<BitSet>& contributors,
                   uint32_t slot,
                   size_t element,
                   double got) const {
  const OpShape shape = shapeOf(key);
  double sum = 0;
  double magnitude = 0;
  int count = 0;
  for (int c = 0; c < options_.ranks; c++) {
    if (contributors[c].test(slot)) {
      const double value = at(key, c, element);
      sum = rounded(shape, sum + value);
      magnitude += std::abs(value);
      count++;
    }
  }
  if (count > 0 && count < options_.ranks) {
    const double factor = static_cast<double>(options_.ranks) / count;
    sum = rounded(shape, sum * factor);
    magnitude *= factor;
  }
  const double epsilon =
      options_.roughInputs && options_.protocol.order == SumOrder::kArrival
          ? options_.ranks * 0x1p-23
          : 0;
  return std::abs(got - sum) <= epsilon * magnitude;
}

double Inputs::fillOf(const OpKey& key, int rank, size_t element) const {
  return options_.protocol.fill == Fill::kLocal
             ? rounded(shapeOf(key), options_.ranks * at(key, rank, element))
             : 0;
}

double Inputs::load(const OpShape& shape,
                    const std::byte* data,
                    size_t element) {
  if (shape.type == ElementType::kFloat64) {
    double value;
    std::memcpy(&value, data + element * 8, 8);
    return value;
  }
  float value;
  std::memcpy(&value, data + element * 4, 4);
  return value;
}

}  // namespace ubt::sim
