// SPDX-License-Identifier: Apache-2.0
//
// Makes libFuzzer write a crashing input to the folder that Bazel keeps in the
// test's outputs.zip. libFuzzer itself prints only short inputs.

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
