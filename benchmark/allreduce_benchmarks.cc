// SPDX-License-Identifier: Apache-2.0
#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_local.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>

#include <algorithm>

#include "algorithms/bounded_transpose_allreduce.h"
#include "algorithms/hierarchical_bounded_transpose_allreduce.h"
#include "algorithms/hierarchical_transpose_allreduce.h"
#include "algorithms/transpose_allreduce.h"
#include "benchmark/registry.h"
#include "transport_ubt/device.h"

namespace gloo {
namespace benchmark {

namespace {

// Which buffers are summed. allreduce_local sums each rank's buffers
// separately. With --inputs above 1, Gloo's own binary reports errors for it
// although the sums are right, because it expects the values of a single
// buffer.
enum class Scope { kAllRanks, kThisRank };

// An allreduce class with Gloo's interface, in place.
template <typename T, template <typename> class A>
class Allreduce : public TypedBenchmark<T> {
 public:
  Allreduce(std::shared_ptr<Context> context,
            const Options& options,
            Scope scope)
      : TypedBenchmark<T>(std::move(context), options), scope_(scope) {}

  void initialize(size_t elements) override {
    const auto pointers = this->allocate(this->inputs(), elements);
    algorithm_ = std::make_unique<A<T>>(
        this->context_, pointers, static_cast<int>(elements));
  }

  void run() override { algorithm_->run(); }

  void verify(Mismatches& mismatches) override {
    const auto pattern = this->patternOf(this->inputs());
    for (const auto& buffer : this->buffers_) {
      for (size_t i = 0; i < buffer.size(); i++) {
        const double expected = scope_ == Scope::kAllRanks
                                    ? pattern.sum(i)
                                    : sumOfThisRank(pattern, i);
        this->expect(i, buffer[i], expected, pattern.tolerance(), mismatches);
      }
    }
  }

 private:
  double sumOfThisRank(const Pattern& pattern, size_t index) const {
    double sum = 0;
    for (size_t i = 0; i < this->inputs(); i++) {
      sum += pattern.value(this->rank() * this->inputs() + i, index);
    }
    return sum;
  }

  const Scope scope_;

 protected:
  std::unique_ptr<A<T>> algorithm_;
};

// Bounded ops. An exact op here would be measured under a wrong name.
template <typename T, template <typename> class A>
class BoundedAllreduce : public Allreduce<T, A> {
 public:
  BoundedAllreduce(std::shared_ptr<Context> context, const Options& options)
      : Allreduce<T, A>(std::move(context), options, Scope::kAllRanks) {}

  int warmupIterations(int asked) const override {
    // After the ops that teach the bound, a few more that use it.
    constexpr int kTried = 5;
    const auto* const bounded = detail::boundedContext(*this->context_);
    const bool large =
        bounded != nullptr && this->buffers_.front().size() * sizeof(T) >=
                                  detail::boundedBytesMin(*bounded);
    return large ? std::max<int>(
                       asked, bounded->settings().protocol.warmupOps + kTried)
                 : asked;
  }

  std::string remark() const override {
    const auto& report = this->algorithm_->report();
    if (report) {
      return report->bounded ? "" : "still warming up: exact, not bounded";
    }
    const auto* const bounded = detail::boundedContext(*this->context_);
    return bounded == nullptr
               ? "not bounded, but exact: a bound needs --transport ubt and "
                 "two or more processes"
               : "not bounded, but exact: smaller than GLOO_UBT_MIN_BYTES (" +
                     std::to_string(detail::boundedBytesMin(*bounded)) + ")";
  }
};

// The registry's factory for an algorithm class. The class needs only Gloo's
// constructor.
template <template <typename> class A>
Factory allreduceWith(Scope scope = Scope::kAllRanks) {
  return [scope](std::shared_ptr<Context> context,
                 const Options& options) -> std::unique_ptr<Benchmark> {
    if (options.halfPrecision) {
      return std::make_unique<Allreduce<float16, A>>(
          std::move(context), options, scope);
    }
    return std::make_unique<Allreduce<float, A>>(
        std::move(context), options, scope);
  };
}

template <template <typename> class A>
std::unique_ptr<Benchmark> makeBounded(std::shared_ptr<Context> context,
                                       const Options& options) {
  if (options.halfPrecision) {
    return std::make_unique<BoundedAllreduce<float16, A>>(std::move(context),
                                                          options);
  }
  return std::make_unique<BoundedAllreduce<float, A>>(std::move(context),
                                                      options);
}

// Gloo's newer interface: an options object, separate outputs, always float.
class NewAllreduceRing : public TypedBenchmark<float> {
 public:
  NewAllreduceRing(const std::shared_ptr<Context>& context,
                   const Options& options)
      : TypedBenchmark<float>(context, options), collective_(context) {}

  void initialize(size_t elements) override {
    const auto pointers = allocate(inputs(), elements);
    std::vector<float*> outputs;
    for (size_t i = 0; i < inputs(); i++) {
      outputs_.emplace_back(elements);
    }
    for (auto& output : outputs_) {
      outputs.push_back(output.data());
    }
    collective_.setInputs(pointers, elements);
    collective_.setOutputs(outputs, elements);
    collective_.setAlgorithm(AllreduceOptions::Algorithm::RING);
    void (*add)(void*, const void*, const void*, size_t) = &sum<float>;
    collective_.setReduceFunction(add);
  }

  void run() override { allreduce(collective_); }

  void verify(Mismatches& mismatches) override {
    const auto pattern = patternOf(inputs());
    for (const auto& output : outputs_) {
      for (size_t i = 0; i < output.size(); i++) {
        expect(i, output[i], pattern.sum(i), pattern.tolerance(), mismatches);
      }
    }
  }

 private:
  AllreduceOptions collective_;
  std::vector<Buffer> outputs_;
};

}  // namespace

void addAllreduce(Registry& registry) {
  registry.push_back(
      {"allreduce_ring", "sum, in a ring", allreduceWith<AllreduceRing>()});
  registry.push_back({"allreduce_ring_chunked",
                      "sum, in a ring, in chunks",
                      allreduceWith<AllreduceRingChunked>()});
  registry.push_back({"allreduce_halving_doubling",
                      "sum, recursive halving and doubling",
                      allreduceWith<AllreduceHalvingDoubling>()});
  registry.push_back({"allreduce_bcube",
                      "sum, over a hypercube of --base",
                      allreduceWith<AllreduceBcube>()});
  registry.push_back({"allreduce_local",
                      "sum of a rank's own buffers, no network",
                      allreduceWith<AllreduceLocal>(Scope::kThisRank)});
  registry.push_back({"allreduce_transpose",
                      "sum, each rank to each, two hops",
                      allreduceWith<TransposeAllreduce>()});
  registry.push_back({"allreduce_hierarchical_transpose",
                      "the same in groups, three hops; GLOO_UBT_GROUPS",
                      allreduceWith<HierarchicalTransposeAllreduce>()});
  registry.push_back({"allreduce_optireduce",
                      "transpose in bounded time; -t ubt",
                      makeBounded<BoundedTransposeAllreduce>});
  registry.push_back({"allreduce_hierarchical_optireduce",
                      "the same in groups; GLOO_UBT_GROUPS",
                      makeBounded<HierarchicalBoundedTransposeAllreduce>});
  registry.push_back(
      {"new_allreduce_ring",
       "sum, in a ring, Gloo's options form",
       [](const std::shared_ptr<Context>& context, const Options& options) {
         return std::make_unique<NewAllreduceRing>(context, options);
       }});
}

}  // namespace benchmark
}  // namespace gloo
