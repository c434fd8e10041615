// Arithmetic on sizes that traces and scripts leave behind: typed as Dims, never lowered.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

std::vector<ValueType> all_sizes(const OpArguments& args) {
  return {args.tensor("self").dims};
}

std::vector<ValueType> one_size(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const int64_t axis = checked_axis(args, args.integer("dim"), self.rank());
  return {Dims{self.dims[static_cast<size_t>(axis)]}};
}

// A size passed through a tensor and back, as traces do.
std::vector<ValueType> same_size(const OpArguments& args) {
  return {args.sizes("a")};
}

Dim operand(const OpArguments& args, const std::string& name) {
  const Dims found = args.sizes(name);
  args.require(found.size() == 1, fmt::format("argument {} has {} numbers", name, found.size()), "one");
  return found[0];
}

template <char operation>
std::vector<ValueType> arithmetic(const OpArguments& args) {
  const Dim a = operand(args, "a");
  const Dim b = operand(args, "b");
  if (operation == '+') return {Dims{a + b}};
  if (operation == '-') return {Dims{a - b}};
  if (operation == '*') return {Dims{a * b}};
  args.require(b.is_fixed() && b.value() > 0, "a division by " + b.text(), "a positive number");
  return {Dims{a.floor_div(b.value())}};
}

std::vector<ValueType> list_element(const OpArguments& args) {
  const Dims list = args.sizes("list");
  const int64_t index = checked_axis(args, args.integer("idx"), list.size());
  return {Dims{list[static_cast<size_t>(index)]}};
}

constexpr const char* kNote = "sizes: computed at conversion, or written on the device for flexible ones";

}  // namespace

OpRules size_rules() {
  return {
      {"aten::size(Tensor self) -> int[]", 1, kNote, all_sizes, nullptr},
      {"aten::size.int(Tensor self, int dim) -> int", 1, kNote, one_size, nullptr},
      {"prim::NumToTensor.Scalar(Scalar a) -> Tensor", 1, kNote, same_size, nullptr},
      {"aten::Int.Tensor(Tensor a) -> int", 1, kNote, same_size, nullptr},
      {"aten::add.int(int a, int b) -> int", 1, kNote, arithmetic<'+'>, nullptr},
      {"aten::sub.int(int a, int b) -> int", 1, kNote, arithmetic<'-'>, nullptr},
      {"aten::mul.int(int a, int b) -> int", 1, kNote, arithmetic<'*'>, nullptr},
      {"aten::floordiv.int(int a, int b) -> int", 1, kNote, arithmetic<'/'>, nullptr},
      {"aten::__getitem__.t(t[](a) list, int idx) -> t(*)", 1, kNote, list_element, nullptr},
  };
}

}  // namespace nnapi_convert
