// SPDX-License-Identifier: Apache-2.0
#include "algorithms/bounded_transpose_allreduce.h"

#include "algorithms/allreduce_options.h"
#include "algorithms/eligibility.h"
#include "transport_ubt/pair.h"

namespace gloo {
namespace detail {

transport::ubt::Context* boundedContext(Context& context) {
  if (context.size < 2) {
    return nullptr;
  }
  const auto& pair = context.getPair(context.rank == 0 ? 1 : 0);
  const auto* const ours = dynamic_cast<transport::ubt::Pair*>(pair.get());
  return ours == nullptr ? nullptr : ours->context();
}

size_t boundedBytesMin(const transport::ubt::Context& context) {
  return context.settings().minBytes;
}

BoundedReport boundedAllreduce(const AllreduceOptions& options,
                               bool hierarchical) {
  const auto& impl = allreduceOptionsImpl(options);
  if (impl.elements > 0) {
    checkAllreduceOptions(impl);
  }
  auto* const context = boundedContext(*impl.context);
  const auto type = context == nullptr
                        ? std::nullopt
                        : eligibleType(impl, boundedBytesMin(*context));
  if (!type || !context->takes(*type, impl.elements, hierarchical)) {
    return std::nullopt;
  }
  BoundedReport report = context->allreduce(ubt::TagSpace::kOptions,
                                            impl.tag,
                                            *type,
                                            reduceInputs(impl),
                                            impl.elements,
                                            impl.timeout,
                                            hierarchical);
  copyToOutputs(impl);
  return report;
}

}  // namespace detail

BoundedReport boundedTransposeAllreduce(const AllreduceOptions& options) {
  BoundedReport report = detail::boundedAllreduce(options, false);
  if (!report) {
    transposeAllreduce(options);
  }
  return report;
}

}  // namespace gloo
