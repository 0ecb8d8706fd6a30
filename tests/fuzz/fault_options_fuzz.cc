// SPDX-License-Identifier: Apache-2.0

#include <stdexcept>
#include <string>

#include "transport_ubt/io/fault_injector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    ubt::FaultOptions::parse(std::string(data, data + size));
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
