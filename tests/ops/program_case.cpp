#include "tests/ops/program_case.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <stdexcept>

#include "lib/converter/emit/program.h"
#include "lib/program/interpreter.h"
#include "lib/program/program.h"
#include "tests/ops/case_module.h"
#include "tests/ops/compare.h"

namespace nnapi_convert {
namespace {

namespace program = nnapi_shim::program;

// Rounding: two units in the last place of the largest number, and what sums in another order differ by.
constexpr double kRelative = 1e-6;

struct NoSegments : program::SegmentRunner {
  bool run(const program::SegmentCall&) override { return false; }
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
    program::Interpreter interpreter(*program_, context, segments);
    if (!interpreter.run(*program_->find_method("forward"), state, values.data(), &result))
      return fmt::format("fails: {}", context.failure);
    return difference(expected, to_ivalue(result, expected), {kRelative, 0});
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
  try {
    torch::jit::Module module = make_case_module(op_case);
    const ProgramResult made = make_program(module, {"forward"});
    for (const Refusal& refusal : made.refusals) outcome.missing += refusal.message() + "\n";
    if (!made.program) return outcome;
    ProgramCase one(op_case, module, *made.program);
    for (const uint64_t seed : {1, 2}) {
      const std::string problem = one.run(seed);
      if (!problem.empty()) outcome.problems.push_back(problem);
    }
  } catch (const std::exception& error) {
    const std::string text = error.what();
    outcome.problems.push_back(text.substr(0, text.find('\n')));
  }
  return outcome;
}

}  // namespace nnapi_convert
