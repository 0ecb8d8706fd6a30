// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/drop_in.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <optional>
#include <string>

#include "algorithms/allreduce_options_access.h"
#include "algorithms/mesh_transpose.h"
#include "algorithms/reduction_probe.h"
#include "gloo_ext/bounded_contexts.h"
#include "gloo_ext/original_gloo.h"
#include "gloo_ext/policy.h"

namespace gloo_ext {
namespace {

using Options = gloo::detail::AllreduceOptionsImpl;

void warnOnce(const std::string& text) {
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) {
    std::cerr << "warning: libgloo_ubt.so: " << text
              << "; plain Gloo serves every call\n";
  }
}

// Others are the original's to complain about.
bool isWellFormed(const Options& options) {
  const size_t bytes = options.elements * options.elementSize;
  const auto fits = [bytes](const auto& buffer) {
    return buffer != nullptr && buffer->size == bytes;
  };
  return bytes > 0 && options.reduce != nullptr && !options.out.empty() &&
         std::all_of(options.out.begin(), options.out.end(), fits) &&
         std::all_of(options.in.begin(), options.in.end(), fits);
}

// Gloo has these two itself, for options that ask for them.
void originalWith(const OriginalGloo& original,
                  const gloo::AllreduceOptions& options,
                  Options::Algorithm algorithm) {
  auto& chosen =
      const_cast<Options&>(gloo::allreduceOptionsImpl(options)).algorithm;
  const Options::Algorithm before = chosen;
  chosen = algorithm;
  struct Restore {
    ~Restore() { *where = what; }
    Options::Algorithm* where;
    Options::Algorithm what;
  } restore{&chosen, before};
  original.allreduce(options);
}

// False if the call is not eligible; only what all ranks share decides.
bool bounded(const OriginalGloo& original,
             const gloo::transport::ubt::Mesh& mesh,
             const Options& options,
             const Policy& policy) {
  const auto type = gloo::summedType(options.reduce, options.elementSize);
  if (!type) {
    return false;
  }
  const auto context = BoundedContexts::instance().of(options.context, mesh);
  if (options.elements * options.elementSize < context->bytesMin()) {
    return false;
  }
  auto& channel = context->channel(policy, original.timeout(*options.context));
  channel.allreduce(ubt::TagSpace::kOptions,
                    options.tag,
                    *type,
                    gloo::reduceInputs(options),
                    options.elements,
                    options.timeout);
  gloo::copyToOutputs(options);
  return true;
}

}  // namespace

void allreduce(const gloo::AllreduceOptions& options) {
  std::string why;
  const OriginalGloo* const original = OriginalGloo::find(&why);
  if (original == nullptr) {
    throw gloo::InvalidOperationException("libgloo_ubt.so: " + why);
  }
  static const Policy policy = Policy::fromEnvironment();
  if (policy.algorithm == Algorithm::kOriginal) {
    original->allreduce(options);
    return;
  }
  const Options& impl = gloo::allreduceOptionsImpl(options);
  const auto mesh = original->mesh(impl.context);
  if (!mesh) {
    warnOnce("the Gloo in " + original->file() +
             " has another layout than is known");
  }
  if (!mesh || mesh->size < 2 || !isWellFormed(impl)) {
    original->allreduce(options);
    return;
  }
  switch (policy.algorithm) {
    case Algorithm::kOriginal:
      break;
    case Algorithm::kRing:
      originalWith(*original, options, Options::RING);
      return;
    case Algorithm::kBcube:
      originalWith(*original, options, Options::BCUBE);
      return;
    case Algorithm::kTranspose:
      gloo::meshTransposeAllreduce(*mesh, impl);
      return;
    case Algorithm::kOptiReduce:
      if (!bounded(*original, *mesh, impl, policy)) {
        original->allreduce(options);
      }
      return;
  }
}

}  // namespace gloo_ext
