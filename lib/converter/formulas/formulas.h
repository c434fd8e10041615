// Operators as formulas of others, written with ATen's own functions: losses, Fourier transforms, pools with indices.
// expand_composite traces a formula on made-up tensors, as it traces what ATen itself is made of.
//
// Complex numbers, for which NNAPI has no operands, are pairs of real tensors: aten::complex joins the pair that a
// formula gives, and the formulas of what reads it take the pair apart again, so that no complex tensor is left.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// A tensor; a complex one has two parts. Or a list of tensors.
struct Formed {
  Formed(at::Tensor tensor) : real(std::move(tensor)) {}  // NOLINT(google-explicit-constructor)
  Formed(at::Tensor real_part, at::Tensor imaginary_part)
      : real(std::move(real_part)), imaginary(std::move(imaginary_part)) {}

  explicit Formed(std::vector<at::Tensor> tensors) : list(std::move(tensors)) {}

  bool is_complex() const { return imaginary.defined(); }

  at::Tensor real, imaginary;
  std::vector<at::Tensor> list;
};

// What a formula throws that can't take its arguments.
class FormulaRefused : public std::exception {
 public:
  FormulaRefused(std::string found, std::string needed, std::string hint = "")
      : found_(std::move(found)), needed_(std::move(needed)), hint_(std::move(hint)) {}
  const char* what() const noexcept override { return found_.c_str(); }
  Refusal refusal_of(const TorchNode& node) const;

 private:
  std::string found_, needed_, hint_;
};

// The arguments of a call by the names of its schema. A complex tensor is a tuple of its parts.
class FormulaArguments {
 public:
  FormulaArguments(const c10::FunctionSchema& schema, const torch::jit::Stack& values)
      : schema_(schema), values_(values) {}

  bool has(const std::string& name) const { return schema_.argumentIndexWithName(name).has_value(); }
  bool is_none(const std::string& name) const { return !has(name) || value(name).isNone(); }
  const c10::IValue& value(const std::string& name) const;
  at::Tensor tensor(const std::string& name) const;
  Formed complex(const std::string& name) const;
  // "self", or what the schema calls its first tensor.
  Formed first() const { return formed(values_.at(0)); }
  // An undefined tensor for None.
  at::Tensor optional(const std::string& name) const { return is_none(name) ? at::Tensor() : tensor(name); }
  int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  bool boolean(const std::string& name) const { return value(name).toBool(); }
  std::vector<int64_t> integers(const std::string& name) const { return value(name).toIntVector(); }
  // The same where a list of one stands for `size` equal numbers, and `fallback` for an empty one.
  std::vector<int64_t> integers(const std::string& name, size_t size, const std::vector<int64_t>& fallback) const;
  const c10::FunctionSchema& schema() const { return schema_; }

 private:
  static Formed formed(const c10::IValue& value);

  const c10::FunctionSchema& schema_;
  const torch::jit::Stack& values_;
};

struct Formula {
  const char* name;  // with the overload
  // False where the operator's rule is better, or where it is another kind of the operator; null for all.
  bool (*applies)(const OpArguments&);
  std::vector<Formed> (*form)(const FormulaArguments&);
};

using Formulas = std::vector<Formula>;

// Null where there is none.
const Formula* find_formula(const TorchNode& node, const TypeMap& types);

// The names of all, sorted.
std::vector<std::string> operators_with_formulas();

// True if the operator has a formula, for some arguments.
bool may_have_formula(const TorchNode& node);

// True for a tensor of complex numbers that a formula gave, and that another one may take apart.
bool is_pair(const TorchValue& value);

// What `make` gives as a constant: the functions that it calls are not part of the formula.
at::Tensor constant_of(const std::function<at::Tensor()>& make);
at::Tensor constant_of(const std::vector<int64_t>& numbers);

// An axis with zeros between its numbers, which are `step` apart then.
at::Tensor spread(const at::Tensor& x, int64_t axis, int64_t step);

// The families, one per file.
Formulas loss_formulas();         // formula_losses.cpp
Formulas class_loss_formulas();   // formula_class_losses.cpp
Formulas fourier_formulas();      // formula_fourier.cpp
Formulas spectrogram_formulas();  // formula_spectrogram.cpp
Formulas complex_formulas();      // formula_complex.cpp
Formulas pooling_formulas();      // formula_pooling.cpp
Formulas norm_formulas();         // formula_norm.cpp
Formulas convolution_formulas();  // formula_convolution.cpp
Formulas sampling_formulas();     // formula_sampling.cpp
Formulas lookup_formulas();       // formula_lookup.cpp
Formulas dropout_formulas();      // formula_dropout.cpp
Formulas matrix_formulas();       // formula_matrices.cpp
Formulas reflection_formulas();   // formula_reflections.cpp
Formulas counting_formulas();     // formula_counting.cpp

}  // namespace nnapi_convert
