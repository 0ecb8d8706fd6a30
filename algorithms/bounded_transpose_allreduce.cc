// SPDX-License-Identifier: Apache-2.0
#include "algorithms/bounded_transpose_allreduce.h"

#include <cstring>

#include "algorithms/allreduce_options.h"
#include "algorithms/reduction_probe.h"
#include "transport_ubt/device.h"
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
  return context.device().settings().minBytes;
}

}  // namespace detail

BoundedReport boundedTransposeAllreduce(const AllreduceOptions& options) {
  const auto& impl = allreduceOptionsImpl(options);
  if (impl.elements > 0) {
    checkAllreduceOptions(impl);
  }
  auto* const context = detail::boundedContext(*impl.context);
  const size_t bytes = impl.elements * impl.elementSize;
  const auto type = summedType(impl.reduce, impl.elementSize);
  if (context == nullptr || !type || bytes == 0 ||
      bytes < detail::boundedBytesMin(*context)) {
    transposeAllreduce(options);
    return std::nullopt;
  }
  // The contribution of this rank's inputs, in the first output; which may be
  // the second input, and must not be written to before that is read.
  const auto& sources = impl.in.empty() ? impl.out : impl.in;
  void* const result = impl.out[0]->ptr;
  const void* contribution = sources[0]->ptr;
  for (size_t i = 1; i < sources.size(); i++) {
    impl.reduce(result, contribution, sources[i]->ptr, impl.elements);
    contribution = result;
  }
  if (contribution != result) {
    std::memcpy(result, contribution, bytes);
  }
  BoundedReport report = context->allreduce(ubt::TagSpace::kOptions,
                                            impl.tag,
                                            *type,
                                            result,
                                            impl.elements,
                                            impl.timeout);
  for (size_t i = 1; i < impl.out.size(); i++) {
    std::memcpy(impl.out[i]->ptr, result, bytes);
  }
  return report;
}

}  // namespace gloo
