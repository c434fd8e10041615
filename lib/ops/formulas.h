// SPDX-License-Identifier: BSD-3-Clause
// Formulas: operators written as compositions of other operators, with ATen's own functions (losses, Fourier
// transforms, pools with indices). expand_composite() traces a formula on made-up tensors.
//
// Pairs of real tensors stand for complex tensors, as NNAPI has no complex operands: aten::complex joins the pair that
// a formula returns, and the formulas of its readers take the pair apart again, so that no complex tensor is left.
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

// A result of a formula: a tensor, the two parts of a complex tensor, or a list of tensors.
struct Formed {
  Formed(at::Tensor tensor) : real(std::move(tensor)) {}  // NOLINT(google-explicit-constructor)
  Formed(at::Tensor real_part, at::Tensor imaginary_part)
      : real(std::move(real_part)), imaginary(std::move(imaginary_part)) {}

  explicit Formed(std::vector<at::Tensor> tensors) : list(std::move(tensors)) {}

  bool is_complex() const { return imaginary.defined(); }

  at::Tensor real, imaginary;
  std::vector<at::Tensor> list;
};

// The exception of a formula that can't take its arguments.
class FormulaRefused : public std::exception {
 public:
  FormulaRefused(std::string found, std::string needed, std::string hint = "")
      : found_(std::move(found)), needed_(std::move(needed)), hint_(std::move(hint)) {}
  const char* what() const noexcept override { return found_.c_str(); }
  Refusal refusal_of(const TorchNode& node) const;

 private:
  std::string found_, needed_, hint_;
};

// The arguments of a call by their names in the schema. A complex tensor or number is a tuple of its parts.
class FormulaArguments {
 public:
  FormulaArguments(const c10::FunctionSchema& schema, const torch::jit::Stack& values)
      : schema_(schema), values_(values) {}

  bool has(const std::string& name) const { return schema_.argumentIndexWithName(name).has_value(); }
  bool is_none(const std::string& name) const { return !has(name) || value(name).isNone(); }
  const c10::IValue& value(const std::string& name) const;
  at::Tensor tensor(const std::string& name) const;
  Formed complex(const std::string& name) const;
  // Returns the first argument, "self" in most schemas.
  Formed first() const { return formed(values_.at(0)); }
  // Returns a tensor argument; an undefined tensor for None.
  at::Tensor optional(const std::string& name) const { return is_none(name) ? at::Tensor() : tensor(name); }
  int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  bool boolean(const std::string& name) const { return value(name).toBool(); }
  std::vector<int64_t> integers(const std::string& name) const { return value(name).toIntVector(); }
  // Returns `size` integers: a list, where one number stands for `size` equal ones, or `fallback` for an empty list.
  std::vector<int64_t> integers(const std::string& name, size_t size, const std::vector<int64_t>& fallback) const;
  const c10::FunctionSchema& schema() const { return schema_; }

 private:
  static Formed formed(const c10::IValue& value);

  const c10::FunctionSchema& schema_;
  const torch::jit::Stack& values_;
};

struct Formula {
  const char* name;  // the operator's name with the overload
  // Returns false for arguments that the operator's rule handles better or that the formula isn't for. Null: takes all.
  bool (*applies)(const OpArguments&);
  std::vector<Formed> (*form)(const FormulaArguments&);
};

using Formulas = std::vector<Formula>;

// Returns the formula of the node; null if there is none.
const Formula* find_formula(const TorchNode& node, const TypeMap& types);

// Returns the names of all operators with formulas, sorted.
std::vector<std::string> operators_with_formulas();

// True if the operator has a formula for some arguments.
bool may_have_formula(const TorchNode& node);

// True for a complex number, and for a complex tensor.
bool is_complex(const c10::IValue& value);

// True for a complex tensor that aten::complex made of a formula's pair, and that other formulas can take apart.
bool is_pair(const TorchValue& value);

// Returns the result of `make`, or the numbers, as a constant: functions that `make` calls are not traced.
at::Tensor constant_of(const std::function<at::Tensor()>& make);
at::Tensor constant_of(const std::vector<int64_t>& numbers);

// Puts zeros between the elements of an axis, so that these are `step` apart.
at::Tensor spread(const at::Tensor& x, int64_t axis, int64_t step);

// Each family of formulas has one file.
Formulas loss_formulas();           // formula_losses.cpp
Formulas class_loss_formulas();     // formula_class_losses.cpp
Formulas fourier_formulas();        // formula_fourier.cpp
Formulas spectrogram_formulas();    // formula_spectrogram.cpp
Formulas complex_formulas();        // formula_complex.cpp
Formulas pooling_formulas();        // formula_pooling.cpp
Formulas norm_formulas();           // formula_norm.cpp
Formulas convolution_formulas();    // formula_convolution.cpp
Formulas sampling_formulas();       // formula_sampling.cpp
Formulas lookup_formulas();         // formula_lookup.cpp
Formulas dropout_formulas();        // formula_dropout.cpp
Formulas matrix_formulas();         // formula_matrices.cpp
Formulas reflection_formulas();     // formula_reflections.cpp
Formulas counting_formulas();       // formula_counting.cpp
Formulas product_formulas();        // formula_products.cpp
Formulas alias_formulas();          // formula_alias.cpp
Formulas fake_quantise_formulas();  // formula_fake_quantise.cpp
Formulas integer_formulas();        // formula_integers.cpp
Formulas packed_formulas();         // formula_packed.cpp
Formulas antialiased_formulas();    // formula_antialiased.cpp

}  // namespace nnapi_convert
