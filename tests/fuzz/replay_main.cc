// SPDX-License-Identifier: Apache-2.0
//
// Stands in for libFuzzer where there is none: feeds a target inputs that are
// the same each time. No coverage guides it; it shows that the target builds,
// runs, and withstands plain noise.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main() {
  constexpr int kInputs = 5000;
  constexpr size_t kBytesMax = 600;
  std::mt19937_64 random(1);
  for (int i = 0; i < kInputs; i++) {
    std::vector<uint8_t> input(random() % kBytesMax);
    // Small values reach more branches than large ones.
    const uint64_t range = i % 2 == 0 ? 256 : 12;
    for (uint8_t& byte : input) {
      byte = static_cast<uint8_t>(random() % range);
    }
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%d inputs\n", kInputs);
  return 0;
}
