// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/program_case.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "lib/converter/emit/program.h"
#include "lib/program/interpreter.h"
#include "lib/program/program.h"
#include "tests/ops/case_module.h"

namespace nnapi_convert {
namespace {

namespace program = nnapi_shim::program;

// Rounding, of the largest number: two units in the last place, and what sums in another order differ by. Where numbers
// nearly cancel each other, or positions between many cells are computed, it is more.
constexpr double kRelative = 3e-6, kRelativeOfFew = 5e-5;

// An operator of the list that takes not all arguments: it says so.
constexpr const char* kRefusedAtRun = "refused: ";

struct NoSegments final : program::SegmentRunner {
  bool run_segment(uint32_t, program::Context& context, const program::Value* const*, program::Value*) override {
    return context.fail("there is no segment");
  }
  bool run_raw_segment(uint32_t, program::Context& context, const program::Value* const*, uint32_t, uint32_t,
                       program::Value*) override {
    return context.fail("there is no segment");
  }
};

program::Value to_value(program::Context& context, const at::Tensor& tensor) {
  std::vector<int64_t> sizes = tensor.sizes().vec();
  return program::Value(program::make_borrowed(context.pool, static_cast<program::ScalarType>(tensor.scalar_type()),
                                               static_cast<uint32_t>(sizes.size()), sizes.data(), tensor.data_ptr(),
                                               tensor.nbytes()));
}

at::Tensor to_tensor(const program::Value& value) {
  if (!value.is_tensor()) throw std::runtime_error("a tensor is missing");
  const program::Tensor& tensor = value.tensor();
  const std::vector<int64_t> sizes(tensor.sizes, tensor.sizes + tensor.rank);
  const std::vector<int64_t> strides(tensor.strides, tensor.strides + tensor.rank);
  return at::from_blob(tensor.bytes(), sizes, strides, at::TensorOptions(static_cast<at::ScalarType>(tensor.dtype)))
      .clone();
}

// Returns the value in the form that TorchScript gave.
c10::IValue to_ivalue(const program::Value& value, const c10::IValue& like) {
  const auto check = [](bool is_alike) {
    if (!is_alike) throw std::runtime_error("the result has another structure");
  };
  if (like.isTensor()) return to_tensor(value);
  if (like.isInt()) return check(value.tag() == program::Tag::kInt), value.as_int();
  if (like.isBool()) return check(value.tag() == program::Tag::kBool), value.as_bool();
  if (like.isDouble()) return check(value.tag() == program::Tag::kFloat), value.as_float();
  if (like.isNone()) return check(value.is_none()), c10::IValue();
  if (like.isTuple() || like.isList()) {
    check(value.tag() == (like.isTuple() ? program::Tag::kTuple : program::Tag::kList));
    const auto likes =
        like.isTuple() ? c10::ArrayRef<c10::IValue>(like.toTupleRef().elements().vec()).vec() : like.toListRef().vec();
    check(value.sequence().count == likes.size());
    std::vector<c10::IValue> elements;
    for (size_t i = 0; i < likes.size(); ++i) elements.push_back(to_ivalue(value.sequence().values[i], likes[i]));
    if (like.isTuple()) return c10::ivalue::Tuple::create(std::move(elements));
    c10::impl::GenericList list(like.toList().elementType());
    for (c10::IValue& element : elements) list.push_back(std::move(element));
    return list;
  }
  if (like.isGenericDict()) {
    const auto from = like.toGenericDict();
    check(value.tag() == program::Tag::kDict && value.sequence().count == 2 * from.size());
    c10::impl::GenericDict dict(from.keyType(), from.valueType());
    size_t i = 0;
    for (const auto& pair : from) {
      dict.insert(pair.key(), to_ivalue(value.sequence().values[2 * i + 1], pair.value()));
      ++i;
    }
    return dict;
  }
  throw std::runtime_error("a result of type " + like.type()->repr_str());
}

// Returns an empty text if both are the same: tensors to rounding, and the kinds and numbers of all else.
std::string unlikeness(const c10::IValue& expected, const c10::IValue& found) {
  if (expected.isTensor()) {
    const at::Tensor left = expected.toTensor(), right = found.toTensor();
    if (left.sizes() != right.sizes() || left.scalar_type() != right.scalar_type())
      return fmt::format("{} of {} found, {} of {} needed", toString(right.scalar_type()),
                         fmt::join(right.sizes(), ","), toString(left.scalar_type()), fmt::join(left.sizes(), ","));
    if (left.numel() == 0) return "";
    const at::Tensor a = left.to(at::kDouble), b = right.to(at::kDouble);
    const at::Tensor finite = a.masked_fill(a.isfinite().logical_not(), 0);
    const double allowed = left.is_floating_point() ? kRelative * finite.abs().max().item<double>() : 0;
    if (at::isclose(b, a, 0, allowed, /*equal_nan=*/true).all().item<bool>()) return "";
    const double of_few = allowed * kRelativeOfFew / kRelative;
    const at::Tensor is_near = at::isclose(b, a, 0, allowed, /*equal_nan=*/true).to(at::kDouble);
    const bool are_few = is_near.mean().item<double>() > 0.5;
    if (are_few && at::isclose(b, a, 0, of_few, /*equal_nan=*/true).all().item<bool>()) return "";
    return fmt::format("differs by {:g}, {:g} allowed", (a - b).abs().max().item<double>(), allowed);
  }
  if (expected.isTuple() || expected.isList()) {
    const auto elements = [](const c10::IValue& value) {
      return value.isTuple() ? value.toTupleRef().elements().vec() : value.toListRef().vec();
    };
    const std::vector<c10::IValue> left = elements(expected), right = elements(found);
    for (size_t i = 0; i < left.size(); ++i) {
      const std::string text = unlikeness(left[i], right[i]);
      if (!text.empty()) return fmt::format("[{}]: {}", i, text);
    }
    return "";
  }
  if (expected.isGenericDict()) {
    for (const auto& pair : expected.toGenericDict()) {
      const std::string text = unlikeness(pair.value(), found.toGenericDict().at(pair.key()));
      if (!text.empty()) return "a value of the dict: " + text;
    }
    return "";
  }
  if (expected.isDouble()) return expected.toDouble() == found.toDouble() ? "" : "a number differs";
  return expected == found ? "" : "a value differs";
}

class ProgramCase {
 public:
  ProgramCase(OpCase& op_case, torch::jit::Module module, const Program& written)
      : case_(op_case), module_(std::move(module)) {
    bytes_.resize(written.bytes + 64);
    begin_ = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(bytes_.data()) + 63) / 64 * 64);
    uint8_t* end = begin_;
    written.write([&end](const void* data, size_t size) {
      std::copy_n(static_cast<const uint8_t*>(data), size, end);
      end += size;
    });
    char error[512] = "";
    program_ = program::Program::parse(begin_, static_cast<size_t>(end - begin_), error, sizeof error);
    if (program_ == nullptr) throw std::runtime_error(error);
  }

  std::string run(uint64_t seed) {
    const std::vector<at::Tensor> inputs = case_inputs(case_, seed, false);
    c10::InferenceMode guard;
    std::vector<c10::IValue> arguments;
    for (const at::Tensor& input : inputs) arguments.emplace_back(input.clone(at::MemoryFormat::Preserve));
    const c10::IValue expected = module_.forward(std::move(arguments));
    program::Context context;
    NoSegments segments;
    program::Value state, result;
    std::vector<at::Tensor> kept;
    std::vector<program::Value> values;
    for (const at::Tensor& input : inputs) {
      kept.push_back(input.contiguous());
      values.push_back(to_value(context, kept.back()));
    }
    if (!program_->make_state(context, &state)) throw std::runtime_error("no memory");
    const program::Method& forward = *program_->find_method("forward");
    if (!run_method(*program_, forward, context, state, segments, values.data(), &result))
      return fmt::format("{}{}", kRefusedAtRun, context.failure);
    return unlikeness(expected, to_ivalue(result, expected));
  }

 private:
  OpCase& case_;
  torch::jit::Module module_;
  std::vector<uint8_t> bytes_;
  uint8_t* begin_ = nullptr;
  std::unique_ptr<const program::Program> program_;
};

}  // namespace

ProgramOutcome check_program(OpCase& op_case) {
  ProgramOutcome outcome;
  const auto is_quantised = [](const CaseTensor& input) { return c10::isQIntType(input.type.dtype); };
  if (std::any_of(op_case.inputs.begin(), op_case.inputs.end(), is_quantised)) {
    outcome.missing = "quantised tensors";
    return outcome;
  }
  try {
    torch::jit::Module module = make_case_module(op_case);
    const ProgramResult made = make_program({module});
    for (const Refusal& refusal : made.refusals) outcome.missing += refusal.message() + "\n";
    if (!made.program) return outcome;
    ProgramCase one(op_case, module, *made.program);
    for (const uint64_t seed : {1, 2}) {
      const std::string problem = one.run(seed);
      if (problem.rfind(kRefusedAtRun, 0) == 0) {
        outcome.missing = problem;
      } else if (!problem.empty()) {
        outcome.problems.push_back(problem);
      }
    }
  } catch (const std::exception& error) {
    const std::string text = error.what();
    outcome.problems.push_back(text.substr(0, text.find('\n')));
  }
  return outcome;
}

}  // namespace nnapi_convert
