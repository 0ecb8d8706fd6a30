// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstring>

namespace gloo_ext {

// Writes the address of a function or an object of an open library to `out`,
// a pointer of its type. False: the library has none of that name; `out` is
// then null.
template <typename T>
bool look(void* library, const char* name, T* out) {
  void* const found = dlsym(library, name);
  static_assert(sizeof(found) == sizeof(*out), "`out` has to be a pointer");
  std::memcpy(out, &found, sizeof(found));
  return found != nullptr;
}

}  // namespace gloo_ext
