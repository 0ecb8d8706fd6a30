// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/drop_in.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "algorithms/allreduce_options_access.h"
#include "algorithms/eligibility.h"
#include "algorithms/mesh_halving_doubling.h"
#include "algorithms/mesh_transpose.h"
#include "gloo_ext/original_gloo.h"
#include "gloo_ext/policy.h"
#include "gloo_ext/process_state.h"
#include "gloo_ext/profiler_range.h"
#include "transport_ubt/bounded/host_id.h"
#include "transport_ubt/bounded/mesh_deadline.h"
#include "transport_ubt/io/warning.h"

namespace gloo_ext {
namespace {

using Options = gloo::detail::AllreduceOptionsImpl;

void warnOfPlainGloo(const std::string& why) {
  ubt::warnOnce("libgloo_ubt.so: " + why + "; plain Gloo serves every call");
}

size_t bytesOf(const Options& options) {
  return options.elements * options.elementSize;
}

// REQUIRES isWellFormed().
const void* contributionOf(const Options& options) {
  return (options.in.empty() ? options.out : options.in)[0]->ptr;
}

// The original reports malformed options.
bool isWellFormed(const Options& options) {
  const size_t bytes = bytesOf(options);
  const auto fits = [bytes](const auto& buffer) {
    return buffer != nullptr && buffer->size == bytes;
  };
  return bytes > 0 && options.reduce != nullptr && !options.out.empty() &&
         std::all_of(options.out.begin(), options.out.end(), fits) &&
         std::all_of(options.in.begin(), options.in.end(), fits);
}

// For algorithms that Gloo has: its options select one.
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

// Returns false if the call is not eligible. Only values that are equal on all
// ranks decide that.
bool bounded(const OriginalGloo& original,
             const ubt::Mesh& mesh,
             const Options& options,
             const Policy& policy,
             ProcessState& process) {
  BoundedOp op;
  op.bytes = bytesOf(options);
  const auto type = gloo::eligibleType(options, policy.bytesMin);
  if (!type) {
    return false;
  }
  const auto context = process.contexts().of(options.context, mesh);
  if (context == nullptr) {
    return false;
  }
  const BoundedContexts::Call call(&process.contexts());
  const auto contextTimeout = original.timeout(*options.context);
  const auto timeout = std::min(ubt::allowedWait(contextTimeout),
                                ubt::allowedWait(options.timeout));
  // One deadline for everything that this call waits for.
  const ubt::MeshDeadline deadline(timeout);
  auto& channel = context->channel(policy, contextTimeout, timeout);
  const bool inGroups = policy.algorithm == Algorithm::kHierarchicalOptiReduce;
  if (!channel.takes(*type, options.elements, inGroups)) {
    return false;
  }
  op.rank = mesh.rank;
  op.size = mesh.size;
  op.addresses = context->addresses();
  op.type = *type;
  op.data = options.out[0]->ptr;
  const ProfilerRange range("gloo_ubt::bounded_allreduce");
  const auto start = std::chrono::steady_clock::now();
  try {
    op.report = channel.allreduce(ubt::TagSpace::kOptions,
                                  options.tag,
                                  *type,
                                  gloo::reduceInputs(options),
                                  options.elements,
                                  deadline.remaining(),
                                  inGroups);
  } catch (...) {
    process.recorder().statistics().failed();
    throw;
  }
  op.took = std::chrono::steady_clock::now() - start;
  gloo::copyToOutputs(options);
  try {
    process.recorder().add(op);
  } catch (const std::exception&) {
    // No memory to record the call. It still has its result, as on the other
    // ranks.
  }
  return true;
}

// The ranks of the call's context. Returns an empty value and warns once if
// this process's Gloo has an unknown layout.
std::optional<ubt::Mesh> meshOf(const OriginalGloo& original,
                                const Options& options) {
  if (!original.notUnderstood().empty()) {
    warnOfPlainGloo(original.notUnderstood());
    return std::nullopt;
  }
  auto mesh = original.mesh(options.context);
  if (!mesh) {
    warnOfPlainGloo("the Gloo in " + original.file() +
                    " has an unknown layout");
  }
  return mesh;
}

void hierarchical(const ubt::Mesh& mesh,
                  const Options& options,
                  const Policy& policy,
                  ProcessState& process) {
  const gloo::MeshDeadline deadline(options.timeout);
  const auto groups =
      process.groups().of(options.context, mesh, deadline, [&policy] {
        return gloo::GroupWish{policy.groups, ubt::hostId()};
      });
  gloo::meshHierarchicalTransposeAllreduce(mesh, options, *groups, deadline);
}

void exact(const OriginalGloo& original,
           const ubt::Mesh& mesh,
           const gloo::AllreduceOptions& options,
           const Policy& policy,
           ProcessState& process) {
  switch (policy.algorithm) {
    case Algorithm::kOriginal:
    case Algorithm::kOptiReduce:
    case Algorithm::kHierarchicalOptiReduce:
      original.allreduce(options);
      return;
    case Algorithm::kRing:
      originalWith(original, options, Options::RING);
      return;
    case Algorithm::kBcube:
      originalWith(original, options, Options::BCUBE);
      return;
    case Algorithm::kHalvingDoubling:
      gloo::meshHalvingDoublingAllreduce(mesh,
                                         gloo::allreduceOptionsImpl(options));
      return;
    case Algorithm::kTranspose:
      gloo::meshTransposeAllreduce(mesh, gloo::allreduceOptionsImpl(options));
      return;
    case Algorithm::kHierarchicalTranspose:
      hierarchical(mesh, gloo::allreduceOptionsImpl(options), policy, process);
      return;
  }
}

}  // namespace

void allreduce(const gloo::AllreduceOptions& options) {
  const OriginalGloo* const original = OriginalGloo::find();
  if (original == nullptr) {
    throw gloo::InvalidOperationException(
        "libgloo_ubt.so: this process has no Gloo");
  }
  static const Policy policy = Policy::fromEnvironment();
  if (policy.algorithm == Algorithm::kOriginal) {
    original->allreduce(options);
    return;
  }
  const Options& impl = gloo::allreduceOptionsImpl(options);
  const auto mesh = meshOf(*original, impl);
  ProcessState& process = ProcessState::instance();
  if (!mesh || mesh->size < 2 || !isWellFormed(impl)) {
    process.recorder().statistics().exact();
    original->allreduce(options);
    return;
  }
  if (policy.mayBound() &&
      policy.bounds(process.chosen().of(
          impl.context, contributionOf(impl), bytesOf(impl))) &&
      bounded(*original, *mesh, impl, policy, process)) {
    return;
  }
  process.recorder().statistics().exact();
  exact(*original, *mesh, options, policy, process);
}

bool mayBound() {
  const OriginalGloo* const original = OriginalGloo::find();
  try {
    return original != nullptr && original->notUnderstood().empty() &&
           Policy::fromEnvironment().mayBound();
  } catch (const gloo::InvalidOperationException&) {
    return true;
  }
}

}  // namespace gloo_ext
