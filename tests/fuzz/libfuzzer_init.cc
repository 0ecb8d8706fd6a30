// SPDX-License-Identifier: Apache-2.0
//
// Tells libFuzzer to leave an input that crashes where Bazel keeps it: in the
// test's outputs.zip. Only short inputs are printed as well.

#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const char* folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (folder != nullptr) {
    static std::string prefix = std::string("-artifact_prefix=") + folder + "/";
    static std::vector<char*> arguments(*argv, *argv + *argc);
    arguments.push_back(prefix.data());
    arguments.push_back(nullptr);
    *argv = arguments.data();
    *argc += 1;
  }
  return 0;
}
