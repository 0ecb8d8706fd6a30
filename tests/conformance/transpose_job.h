// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/bounded_transpose_allreduce.h"
#include "algorithms/hierarchical_transpose_allreduce.h"
#include "algorithms/transpose_allreduce.h"
#include "tests/conformance/buffers.h"
#include "tests/conformance/elements.h"
#include "tests/conformance/halving_doubling.h"
#include "tests/conformance/local_ranks.h"

namespace gloo {
namespace testing {

// Wishes by rank: for `groups` equal groups, or for groups by these hosts.
inline std::vector<GroupWish> equalGroups(int ranks, uint32_t groups) {
  return std::vector<GroupWish>(ranks,
                                {{ubt::Grouping::By::kCount, groups}, 0});
}

inline std::vector<GroupWish> onHosts(const std::vector<int>& hosts) {
  std::vector<GroupWish> wishes;
  wishes.reserve(hosts.size());
  for (const int host : hosts) {
    wishes.push_back(
        {{ubt::Grouping::By::kHost, 0}, static_cast<uint64_t>(host)});
  }
  return wishes;
}

// Vocabulary of the tests: one allreduce runs on all ranks of a shared mesh, in
// one of the forms that a user can call. Every bit of the result is checked.

enum class Form {
  kClass,
  kOptionsInPlace,
  kOptionsSeparate,
  kBoundedClass,
  kBoundedOptions,  // in place
  kHalvingDoublingInPlace,
  kHalvingDoublingSeparate,
  kHierarchicalClass,  // these use the job's wishes
  kHierarchicalInPlace,
  kHierarchicalSeparate,
};

inline const char* formName(Form form) {
  constexpr const char* kNames[] = {"Class",
                                    "InPlace",
                                    "Separate",
                                    "BoundedClass",
                                    "BoundedInPlace",
                                    "HalvingDoublingInPlace",
                                    "HalvingDoublingSeparate",
                                    "HierarchicalClass",
                                    "HierarchicalInPlace",
                                    "HierarchicalSeparate"};
  return kNames[static_cast<int>(form)];
}

inline bool halvesAndDoubles(Form form) {
  return form == Form::kHalvingDoublingInPlace ||
         form == Form::kHalvingDoublingSeparate;
}

inline bool formsGroups(Form form) {
  return form == Form::kHierarchicalClass ||
         form == Form::kHierarchicalInPlace ||
         form == Form::kHierarchicalSeparate;
}

template <typename T>
const ReductionFunction<T>* functionOf(Operation operation) {
  switch (operation) {
    case Operation::kSum:
      return ReductionFunction<T>::sum;
    case Operation::kProduct:
      return ReductionFunction<T>::product;
    case Operation::kMin:
      return ReductionFunction<T>::min;
    case Operation::kMax:
      return ReductionFunction<T>::max;
  }
  return nullptr;
}

// One allreduce for every rank of a mesh.
struct Job {
  Form form;
  Operation operation;
  int inputs;
  size_t count;
  size_t segmentBytesMax = 1 << 20;    // options forms only
  int repeats = 1;                     // each with new inputs
  std::vector<GroupWish> wishes = {};  // by rank
};

inline std::string describe(const Job& job) {
  return std::string(formName(job.form)) + " " + operationName(job.operation) +
         " of " + std::to_string(job.count) + " elements, " +
         std::to_string(job.inputs) + " inputs";
}

template <typename T>
Buffers<T> inputsOf(const Job& job, int rank) {
  Buffers<T> buffers;
  for (int input = 0; input < job.inputs; input++) {
    buffers.push_back(inputOf<T>(job.operation, rank, input, job.count));
  }
  return buffers;
}

template <typename T>
void expectAll(const std::vector<T>& expected,
               const Buffers<T>& results,
               int rank) {
  for (const auto& result : results) {
    GLOO_ENFORCE_EQ(expected.size(), result.size());
    for (size_t i = 0; i < expected.size(); i++) {
      // Compares bits, because NaN is not == NaN, and -0.0 == 0.0.
      // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
      if (std::memcmp(&expected[i], &result[i], sizeof(T)) != 0) {
        ADD_FAILURE() << "rank " << rank << " element " << i << ": "
                      << ::testing::PrintToString(result[i]) << " should be "
                      << ::testing::PrintToString(expected[i]);
        return;
      }
    }
  }
}

template <template <typename> class Algorithm, typename T>
void runClass(const Job& job,
              const std::shared_ptr<Context>& context,
              const std::vector<T>& expected) {
  const auto original = inputsOf<T>(job, context->rank);
  auto buffers = original;
  const auto function = functionOf<T>(job.operation);
  const auto algorithm = [&]() -> std::unique_ptr<gloo::Algorithm> {
    if constexpr (std::is_same<Algorithm<T>,
                               HierarchicalTransposeAllreduce<T>>::value) {
      return std::make_unique<Algorithm<T>>(context,
                                            pointersTo(buffers),
                                            job.count,
                                            function,
                                            job.wishes[context->rank]);
    } else {
      return std::make_unique<Algorithm<T>>(
          context, pointersTo(buffers), job.count, function);
    }
  }();
  for (int i = 0; i < job.repeats; i++) {
    for (int input = 0; input < job.inputs; input++) {
      std::copy(original[input].begin(),
                original[input].end(),
                buffers[input].begin());
    }
    algorithm->run();
    expectAll(expected, buffers, context->rank);
  }
}

inline void callOptions(const Job& job, const AllreduceOptions& options) {
  if (halvesAndDoubles(job.form)) {
    halvingDoublingAllreduce(options);
  } else if (formsGroups(job.form)) {
    hierarchicalTransposeAllreduce(options, agreedGroups(job.wishes));
  } else if (job.form == Form::kBoundedOptions) {
    boundedTransposeAllreduce(options);
  } else {
    transposeAllreduce(options);
  }
}

template <typename T>
void runOptions(const Job& job,
                const std::shared_ptr<Context>& context,
                const std::vector<T>& expected) {
  for (int i = 0; i < job.repeats; i++) {
    auto inputs = inputsOf<T>(job, context->rank);
    Buffers<T> outputs(2, std::vector<T>(job.count));
    const auto function = functionOf<T>(job.operation);
    AllreduceOptions options(context);
    options.setReduceFunction(
        [&](void* c, const void* a, const void* b, size_t n) {
          std::vector<T> x(static_cast<const T*>(a),
                           static_cast<const T*>(a) + n);
          function->call(x.data(), static_cast<const T*>(b), n);
          std::memcpy(c, static_cast<const void*>(x.data()), n * sizeof(T));
        });
    options.setMaxSegmentSize(job.segmentBytesMax);
    options.setTag(7);
    if (job.form == Form::kOptionsSeparate ||
        job.form == Form::kHalvingDoublingSeparate ||
        job.form == Form::kHierarchicalSeparate) {
      options.setInputs(pointersTo(inputs), job.count);
      options.setOutputs(pointersTo(outputs), job.count);
      callOptions(job, options);
      expectAll(expected, outputs, context->rank);
      for (int input = 0; input < job.inputs; input++) {
        expectAll(inputOf<T>(job.operation, context->rank, input, job.count),
                  {inputs[input]},
                  context->rank);
      }
    } else {
      options.setOutputs(pointersTo(inputs), job.count);
      callOptions(job, options);
      expectAll(expected, inputs, context->rank);
    }
  }
}

template <typename T>
void runJob(const Job& job, const Transport& transport, int ranks) {
  SCOPED_TRACE(describe(job));
  const auto expected =
      halvesAndDoubles(job.form)
          ? treeReference<T>(job.operation, ranks, job.inputs, job.count)
      : formsGroups(job.form)
          ? groupsReference<T>(
                job.operation, agreedGroups(job.wishes), job.inputs, job.count)
          : reference<T>(job.operation, ranks, job.inputs, job.count);
  const auto error =
      sharedRanks(transport, ranks).run([&](const auto& context) {
        if (job.form == Form::kClass) {
          runClass<TransposeAllreduce, T>(job, context, expected);
        } else if (job.form == Form::kHierarchicalClass) {
          runClass<HierarchicalTransposeAllreduce, T>(job, context, expected);
        } else if (job.form == Form::kBoundedClass) {
          runClass<BoundedTransposeAllreduce, T>(job, context, expected);
        } else {
          runOptions<T>(job, context, expected);
        }
      });
  if (!error.empty()) {
    forgetRanks(transport, ranks);
    FAIL() << error;
  }
}

enum class Type {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,
  kFloat,
  kDouble,
};

inline const char* typeName(Type type) {
  constexpr const char* kNames[] = {"int8",
                                    "uint8",
                                    "int32",
                                    "uint32",
                                    "int64",
                                    "uint64",
                                    "float16",
                                    "float",
                                    "double"};
  return kNames[static_cast<int>(type)];
}

inline void runJob(Type type,
                   const Job& job,
                   const Transport& transport,
                   int ranks) {
  switch (type) {
    case Type::kInt8:
      return runJob<int8_t>(job, transport, ranks);
    case Type::kUint8:
      return runJob<uint8_t>(job, transport, ranks);
    case Type::kInt32:
      return runJob<int32_t>(job, transport, ranks);
    case Type::kUint32:
      return runJob<uint32_t>(job, transport, ranks);
    case Type::kInt64:
      return runJob<int64_t>(job, transport, ranks);
    case Type::kUint64:
      return runJob<uint64_t>(job, transport, ranks);
    case Type::kFloat16:
      return runJob<float16>(job, transport, ranks);
    case Type::kFloat:
      return runJob<float>(job, transport, ranks);
    case Type::kDouble:
      return runJob<double>(job, transport, ranks);
  }
}

}  // namespace testing
}  // namespace gloo
