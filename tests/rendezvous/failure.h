// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/common/error.h>

#include <functional>
#include <string>

namespace gloo {
namespace rendezvous {

// The error of a call that failed.
inline std::string failure(const std::function<void()>& call) {
  try {
    call();
  } catch (const IoException& e) {
    return e.what();
  }
  return "no failure";
}

}  // namespace rendezvous
}  // namespace gloo
