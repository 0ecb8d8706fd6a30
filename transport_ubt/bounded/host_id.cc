// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/host_id.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace ubt {
namespace {

std::string hostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

std::string bootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string line;
  std::getline(file, line);
  return line;
}

std::string networkNamespace() {
  struct stat status {};
  return stat("/proc/self/ns/net", &status) == 0 ? std::to_string(status.st_ino)
                                                 : "";
}

}  // namespace

// An FNV-1a hash.
uint64_t hostId() {
  const std::string boot = bootId();
  const std::string network = networkNamespace();
  const std::string text =
      boot.empty() || network.empty() ? hostName() : boot + "\n" + network;
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace ubt
