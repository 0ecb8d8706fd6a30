// SPDX-License-Identifier: Apache-2.0
//
// The exact transpose allreduce against a plain loop, over every transport:
// type x operation x size x ranks x inputs x form. Results must be equal in
// every bit, since the order of operations is part of the contract.
#include "algorithms/transpose_allreduce.h"

#include <gloo/common/error.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/conformance/elements.h"
#include "tests/conformance/mesh.h"

namespace gloo {
namespace testing {
namespace {

const AllreduceOptions::Func kSumFloats =
    static_cast<void (*)(void*, const void*, const void*, size_t)>(&sum<float>);

enum class Form { kClass, kOptionsInPlace, kOptionsSeparate };

const char* formName(Form form) {
  constexpr const char* kNames[] = {"Class", "InPlace", "Separate"};
  return kNames[static_cast<int>(form)];
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

// One allreduce to do, on every rank of a mesh.
struct Job {
  Form form;
  Operation operation;
  int inputs;
  size_t count;
  size_t segmentBytesMax = 1 << 20;  // options forms only
  int repeats = 1;                   // with fresh inputs every time
};

std::string describe(const Job& job) {
  return std::string(formName(job.form)) + " " + operationName(job.operation) +
         " of " + std::to_string(job.count) + " elements, " +
         std::to_string(job.inputs) + " inputs";
}

template <typename T>
using Buffers = std::vector<std::vector<T>>;

template <typename T>
std::vector<T*> pointersTo(Buffers<T>& buffers) {
  std::vector<T*> pointers;
  for (auto& buffer : buffers) {
    pointers.push_back(buffer.data());
  }
  return pointers;
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
      if (std::memcmp(&expected[i], &result[i], sizeof(T)) != 0) {
        ADD_FAILURE() << "rank " << rank << " element " << i << ": "
                      << ::testing::PrintToString(result[i]) << " should be "
                      << ::testing::PrintToString(expected[i]);
        return;
      }
    }
  }
}

template <typename T>
void runClass(const Job& job,
              const std::shared_ptr<Context>& context,
              const std::vector<T>& expected) {
  const auto original = inputsOf<T>(job, context->rank);
  auto buffers = original;
  TransposeAllreduce<T> algorithm(
      context, pointersTo(buffers), job.count, functionOf<T>(job.operation));
  for (int i = 0; i < job.repeats; i++) {
    for (int input = 0; input < job.inputs; input++) {
      std::copy(original[input].begin(),
                original[input].end(),
                buffers[input].begin());
    }
    algorithm.run();
    expectAll(expected, buffers, context->rank);
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
    if (job.form == Form::kOptionsSeparate) {
      options.setInputs(pointersTo(inputs), job.count);
      options.setOutputs(pointersTo(outputs), job.count);
      transposeAllreduce(options);
      expectAll(expected, outputs, context->rank);
      for (int input = 0; input < job.inputs; input++) {
        expectAll(inputOf<T>(job.operation, context->rank, input, job.count),
                  {inputs[input]},
                  context->rank);
      }
    } else {
      options.setOutputs(pointersTo(inputs), job.count);
      transposeAllreduce(options);
      expectAll(expected, inputs, context->rank);
    }
  }
}

template <typename T>
void runJob(const Job& job, const Transport& transport, int ranks) {
  SCOPED_TRACE(describe(job));
  const auto expected =
      reference<T>(job.operation, ranks, job.inputs, job.count);
  const auto error = sharedMesh(transport, ranks).run([&](const auto& context) {
    if (job.form == Form::kClass) {
      runClass<T>(job, context, expected);
    } else {
      runOptions<T>(job, context, expected);
    }
  });
  if (!error.empty()) {
    forgetMesh(transport, ranks);
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

const char* typeName(Type type) {
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

void runJob(Type type, const Job& job, const Transport& transport, int ranks) {
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

using Cell = std::tuple<Transport, int, Type, Operation, Form>;

std::string cellName(const ::testing::TestParamInfo<Cell>& info) {
  return std::get<0>(info.param).name + "_" +
         std::to_string(std::get<1>(info.param)) + "ranks_" +
         typeName(std::get<2>(info.param)) + "_" +
         operationName(std::get<3>(info.param)) + "_" +
         formName(std::get<4>(info.param));
}

class TransposeMatrix : public ::testing::TestWithParam<Cell> {};

TEST_P(TransposeMatrix, equalsAPlainLoop) {
  const auto& [transport, ranks, type, operation, form] = GetParam();
  const size_t fewer = ranks > 1 ? ranks - 1 : 0;
  for (const size_t count : {size_t(0), size_t(1), fewer, size_t(1000)}) {
    for (const int inputs : {1, 3}) {
      runJob(type, {form, operation, inputs, count}, transport, ranks);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    FewRanks,
    TransposeMatrix,
    ::testing::Combine(::testing::ValuesIn(transports()),
                       ::testing::Values(1, 2, 3, 4, 5, 8),
                       ::testing::Values(Type::kInt8,
                                         Type::kUint8,
                                         Type::kInt32,
                                         Type::kUint32,
                                         Type::kInt64,
                                         Type::kUint64,
                                         Type::kFloat16,
                                         Type::kFloat,
                                         Type::kDouble),
                       ::testing::Values(Operation::kSum,
                                         Operation::kProduct,
                                         Operation::kMin,
                                         Operation::kMax),
                       ::testing::Values(Form::kClass,
                                         Form::kOptionsInPlace,
                                         Form::kOptionsSeparate)),
    cellName);

INSTANTIATE_TEST_SUITE_P(
    ManyRanks,
    TransposeMatrix,
    ::testing::Combine(::testing::ValuesIn(transports()),
                       ::testing::Values(16, 33, 64),
                       ::testing::Values(Type::kFloat),
                       ::testing::Values(Operation::kSum),
                       ::testing::Values(Form::kClass,
                                         Form::kOptionsInPlace,
                                         Form::kOptionsSeparate)),
    cellName);

class TransposeSegments : public ::testing::TestWithParam<Transport> {};

// More segments than the window holds, and shards that differ in their last.
TEST_P(TransposeSegments, longShardsAreCutUp) {
  for (const int ranks : {2, 3, 8}) {
    for (const size_t count : {1000003, 700001}) {
      const Job whole = {Form::kClass, Operation::kSum, 2, count};
      runJob<float>(whole, GetParam(), ranks);
      runJob<double>(whole, GetParam(), ranks);
    }
  }
}

TEST_P(TransposeSegments, optionsChooseTheSegment) {
  for (const auto form : {Form::kOptionsInPlace, Form::kOptionsSeparate}) {
    for (const size_t segmentBytesMax : {1, 4, 60, 4096}) {
      for (const size_t count : {5, 100, 997}) {
        Job job = {form, Operation::kSum, 2, count};
        job.segmentBytesMax = segmentBytesMax;
        runJob<float>(job, GetParam(), 3);
        runJob<float16>(job, GetParam(), 5);
      }
    }
  }
}

// No barrier separates two runs: a fast rank is in the next one already.
TEST_P(TransposeSegments, runsFollowEachOtherWithoutABarrier) {
  for (const auto form : {Form::kClass, Form::kOptionsInPlace}) {
    for (const size_t count : {2, 5, 4096, 300000}) {
      Job job = {form, Operation::kSum, 1, count};
      job.repeats = count > 100000 ? 5 : 100;
      runJob<float>(job, GetParam(), 4);
    }
  }
}

// In synchronous mode a send blocks until the kernel has taken all of it, and
// all ranks send at once: what is under way has to fit in the sockets' buffers.
TEST_P(TransposeSegments, synchronousPairsDoNotBlockEachOther) {
  constexpr int kRanks = 4;
  for (const size_t count : {1, 5000, 4000000}) {
    Mesh mesh(GetParam(), kRanks);
    const auto expected = reference<float>(Operation::kSum, kRanks, 1, count);
    const auto error = mesh.run([&](const auto& context) {
      for (int peer = 0; peer < kRanks; peer++) {
        if (peer != context->rank) {
          context->getPair(peer)->setSync(true, false);
        }
      }
      runClass<float>(
          {Form::kClass, Operation::kSum, 1, count}, context, expected);
    });
    EXPECT_EQ("", error);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         TransposeSegments,
                         ::testing::ValuesIn(transports()),
                         [](const auto& info) { return info.param.name; });

class TransposeOptions : public ::testing::TestWithParam<Transport> {};

TEST_P(TransposeOptions, differentTagsRunAtOnce) {
  const size_t count = 10000;
  const auto expected = reference<float>(Operation::kSum, 3, 1, count);
  const auto error = sharedMesh(GetParam(), 3).run([&](const auto& context) {
    std::vector<std::thread> threads;
    for (uint32_t tag = 0; tag < 4; tag++) {
      threads.emplace_back([&, tag] {
        for (int i = 0; i < 20; i++) {
          auto values =
              inputOf<float>(Operation::kSum, context->rank, 0, count);
          AllreduceOptions options(context);
          options.setOutput(values.data(), count);
          options.setReduceFunction(kSumFloats);
          options.setTag(tag);
          transposeAllreduce(options);
          expectAll(expected, {values}, context->rank);
        }
      });
    }
    for (auto& thread : threads) {
      thread.join();
    }
  });
  EXPECT_EQ("", error);
}

TEST_P(TransposeOptions, refusesWhatGlooRefuses) {
  Mesh mesh(GetParam(), 1);
  mesh.run([](const auto& context) {
    std::vector<float> values(4);
    AllreduceOptions nothing(context);
    EXPECT_NO_THROW(transposeAllreduce(nothing));  // no elements, no work
    AllreduceOptions noFunction(context);
    noFunction.setOutput(values.data(), 4);
    EXPECT_THROW(transposeAllreduce(noFunction), EnforceNotMet);
    AllreduceOptions noOutput(context);
    noOutput.setInput(values.data(), 4);
    noOutput.setReduceFunction(kSumFloats);
    EXPECT_THROW(transposeAllreduce(noOutput), EnforceNotMet);
    AllreduceOptions unequal(context);
    unequal.setInput(values.data(), 3);
    unequal.setOutput(values.data(), 4);
    unequal.setReduceFunction(kSumFloats);
    EXPECT_THROW(transposeAllreduce(unequal), EnforceNotMet);
  });
}

TEST_P(TransposeOptions, aRankThatNeverComesIsAnError) {
  Mesh mesh(GetParam(), 3);
  const auto error = mesh.run([](const auto& context) {
    if (context->rank == 2) {
      return;
    }
    std::vector<float> values(100);
    AllreduceOptions options(context);
    options.setOutput(values.data(), 100);
    options.setReduceFunction(kSumFloats);
    options.setTimeout(std::chrono::milliseconds(200));
    EXPECT_THROW(transposeAllreduce(options), IoException);
  });
  EXPECT_EQ("", error);
}

INSTANTIATE_TEST_SUITE_P(All,
                         TransposeOptions,
                         ::testing::ValuesIn(transports()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace testing
}  // namespace gloo
