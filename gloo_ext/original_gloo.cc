// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/original_gloo.h"

#include <dlfcn.h>
#include <gloo/common/error.h>

#include <cstring>

#include "gloo_ext/symbol.h"
#include "transport_ubt/core/base/require.h"

namespace gloo_ext {
namespace {

// A process that uses Gloo has loaded one of these. In PyPI's wheels the first
// contains Gloo; in Debian it depends on the second. Both are found only by
// name, because Python opens libtorch without RTLD_GLOBAL.
constexpr const char* kLibraries[] = {"libtorch_cpu.so", "libgloo.so.0"};

constexpr char kCreateUnboundBuffer[] =
    "_ZN4gloo7Context19createUnboundBufferEPvm";
constexpr char kGetTimeout[] = "_ZNK4gloo7Context10getTimeoutEv";
// Exists only if Context has virtual functions. Then its members come after the
// pointer to this table.
constexpr char kContextTable[] = "_ZTVN4gloo7ContextE";

// More ranks than any job has. A larger number means that the layout is not the
// expected one.
constexpr int kSizeMax = 1 << 20;

}  // namespace

// Returns whether the library has a Gloo, even one that is not understood.
bool OriginalGloo::lookIn(void* library) {
  if (!look(library, kAllreduce, &allreduce_)) {
    return false;
  }
  Dl_info info{};
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(allreduce_), &info);
  dladdr(reinterpret_cast<void*>(&look<Allreduce>), &own);
  if (info.dli_fbase == own.dli_fbase) {
    return false;  // the override itself
  }
  file_ = info.dli_fname;
  if (!look(library, kCreateUnboundBuffer, &createUnboundBuffer_) ||
      !look(library, kGetTimeout, &getTimeout_)) {
    notUnderstood_ = "the Gloo in " + file_ + " lacks a required function";
    return true;
  }
  void* table = nullptr;
  rankOffset_ = look(library, kContextTable, &table) ? sizeof(void*) : 0;
  return true;
}

const OriginalGloo* OriginalGloo::find() {
  static const OriginalGloo* const kFound = []() -> const OriginalGloo* {
    auto* const gloo = new OriginalGloo;
    for (const char* name : kLibraries) {
      void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
      if (library != nullptr && gloo->lookIn(library)) {
        return gloo;
      }
    }
    if (gloo->lookIn(RTLD_NEXT)) {
      return gloo;
    }
    delete gloo;
    return nullptr;
  }();
  return kFound;
}

// Whether both members of an unbound buffer are at the expected offsets.
bool OriginalGloo::knowsBuffersOf(gloo::Context* context) const {
  char byte = 0;
  const auto buffer = createUnboundBuffer_(context, &byte, sizeof(byte));
  return buffer != nullptr && buffer->ptr == &byte &&
         buffer->size == sizeof(byte);
}

std::optional<ubt::Mesh> OriginalGloo::mesh(
    const std::shared_ptr<gloo::Context>& context) const {
  UBT_REQUIRE(notUnderstood_.empty());
  int ranks[2];
  std::memcpy(ranks,
              reinterpret_cast<const char*>(context.get()) + rankOffset_,
              sizeof(ranks));
  if (ranks[1] < 1 || ranks[1] > kSizeMax || ranks[0] < 0 ||
      ranks[0] >= ranks[1]) {
    return std::nullopt;
  }
  static const bool kKnown = knowsBuffersOf(context.get());
  if (!kKnown) {
    return std::nullopt;
  }
  const std::weak_ptr<gloo::Context> weak = context;
  return ubt::Mesh{
      ranks[0], ranks[1], [this, weak](void* ptr, size_t bytes) {
        const auto alive = weak.lock();
        if (alive == nullptr) {
          throw gloo::IoException("the context has been destroyed");
        }
        return createUnboundBuffer_(alive.get(), ptr, bytes);
      }};
}

}  // namespace gloo_ext
