// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "transport_ubt/bounded/mesh.h"

namespace gloo_ext {

// The Gloo that the process came with, be it a library of its own (Debian) or
// a part of libtorch_cpu.so (PyPI's wheels). Nothing of it is linked: it is
// looked up, and the one point where the layouts differ is found out.
class OriginalGloo {
 public:
  // gloo::allreduce(const AllreduceOptions&), as the C++ ABI calls it.
  static constexpr char kAllreduce[] =
      "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE";

  // Null if there is none here. Looks once it is called first, which is when a
  // Gloo must be there.
  static const OriginalGloo* find();

  // Why it cannot be used but for allreduce(); empty if it can.
  const std::string& notUnderstood() const { return notUnderstood_; }

  // What is overridden.
  void allreduce(const gloo::AllreduceOptions& options) const {
    allreduce_(options);
  }

  // The ranks of a context; empty if its layout, or an unbound buffer's, is not
  // one of those known. It holds the context weakly: once that is gone,
  // createUnboundBuffer throws gloo::IoException. REQUIRES that it is
  // understood.
  std::optional<gloo::transport::ubt::Mesh> mesh(
      const std::shared_ptr<gloo::Context>& context) const;

  std::chrono::milliseconds timeout(const gloo::Context& context) const {
    return getTimeout_(&context);
  }

  // The file it lies in, for messages.
  const std::string& file() const { return file_; }

 private:
  using Allreduce = void (*)(const gloo::AllreduceOptions&);
  // Members of gloo::Context, as the C++ ABI calls them.
  using CreateUnboundBuffer =
      std::unique_ptr<gloo::transport::UnboundBuffer> (*)(gloo::Context*,
                                                          void*,
                                                          size_t);
  using GetTimeout = std::chrono::milliseconds (*)(const gloo::Context*);

  bool lookIn(void* library);
  bool knowsBuffersOf(gloo::Context* context) const;

  Allreduce allreduce_ = nullptr;
  CreateUnboundBuffer createUnboundBuffer_ = nullptr;
  GetTimeout getTimeout_ = nullptr;
  size_t rankOffset_ = 0;  // of Context::rank; `size` lies behind it
  std::string file_;
  std::string notUnderstood_;
};

}  // namespace gloo_ext
