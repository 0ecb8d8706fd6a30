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

// The Gloo of the process: a library of its own (Debian) or a part of
// libtorch_cpu.so (PyPI's wheels). This class links nothing of it, but looks
// the symbols up at run time. It also detects the one difference between the
// layouts.
class OriginalGloo {
 public:
  // gloo::allreduce(const AllreduceOptions&), as the C++ ABI calls it.
  static constexpr char kAllreduce[] =
      "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE";

  // Null if the process has no Gloo. The first call does the search, so Gloo
  // must be loaded by then.
  static const OriginalGloo* find();

  // Why only allreduce() is usable; empty if everything is.
  const std::string& notUnderstood() const { return notUnderstood_; }

  // The function that the library overrides.
  void allreduce(const gloo::AllreduceOptions& options) const {
    allreduce_(options);
  }

  // The ranks of a context. Empty if the layout of the context or of an unbound
  // buffer is unknown. The mesh holds the context weakly: after the context is
  // gone, createUnboundBuffer throws gloo::IoException. REQUIRES that
  // notUnderstood() is empty.
  std::optional<ubt::Mesh> mesh(
      const std::shared_ptr<gloo::Context>& context) const;

  std::chrono::milliseconds timeout(const gloo::Context& context) const {
    return getTimeout_(&context);
  }

  // The file that contains this Gloo, for messages.
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
  size_t rankOffset_ = 0;  // of Context::rank; `size` follows it
  std::string file_;
  std::string notUnderstood_;
};

}  // namespace gloo_ext
