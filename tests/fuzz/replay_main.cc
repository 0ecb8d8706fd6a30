// SPDX-License-Identifier: Apache-2.0
//
// Replaces libFuzzer where it is not available. Feeds the target with the kept
// inputs in the given folders, as libFuzzer does, then with random inputs that
// are the same in each run. It is not guided by coverage. It shows that the
// target builds, runs, and withstands plain noise.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// Feeds all inputs in a folder and returns their number.
int replayFolder(const char* folder) {
  int inputs = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::vector<char> input{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()),
                           input.size());
    inputs++;
  }
  return inputs;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    const int kept = replayFolder(argv[i]);
    std::printf("%d kept inputs of %s\n", kept, argv[i]);
    if (kept == 0) {
      return 1;
    }
  }
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
