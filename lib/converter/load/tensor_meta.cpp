// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/tensor_meta.h"

#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/converter/load/export_json.h"

namespace nnapi_convert {

using nlohmann::json;

ExportedSize read_size(const json& value) {
  const TaggedJson size = tagged(value);
  if (size.kind == "as_int") return {integer_of(*size.value), {}, {}};
  if (size.kind != "as_expr") fail_export(fmt::format("a size of kind {} found", size.kind));
  ExportedSize result{std::nullopt, text_member(*size.value, "expr_str"), {}};
  if (const json* hint = find_member(*size.value, "hint")) {
    const TaggedJson number = tagged(*hint);
    if (number.kind == "as_int") result.hint = integer_of(*number.value);
  }
  return result;
}

namespace {

struct Dtype {
  int64_t number;
  c10::ScalarType type;
};

// The numbers of torch/_export/serde/schema.py.
constexpr Dtype kDtypes[] = {
    {1, c10::kByte},           {2, c10::kChar},  {3, c10::kShort},     {4, c10::kInt},         {5, c10::kLong},
    {6, c10::kHalf},           {7, c10::kFloat}, {8, c10::kDouble},    {9, c10::kComplexHalf}, {10, c10::kComplexFloat},
    {11, c10::kComplexDouble}, {12, c10::kBool}, {13, c10::kBFloat16},
};

struct NewerDtype {
  int64_t number;
  const char* name;
};
constexpr NewerDtype kNewerDtypes[] = {
    {14, "float8_e4m3fn"}, {15, "float8_e5m2"},     {28, "uint16"},          {29, "float8_e4m3fn"},
    {30, "float8_e5m2"},   {31, "float8_e4m3fnuz"}, {32, "float8_e5m2fnuz"}, {33, "float8_e8m0fnu"},
    {34, "uint32"},        {35, "uint64"},
};

std::vector<ExportedSize> read_sizes(const json& values) {
  std::vector<ExportedSize> sizes;
  for (const json& value : list_of(values)) sizes.push_back(read_size(value));
  return sizes;
}

}  // namespace

c10::ScalarType read_dtype(int64_t number, const std::string& of_what) {
  for (const Dtype& dtype : kDtypes) {
    if (dtype.number == number) return dtype.type;
  }
  for (const NewerDtype& dtype : kNewerDtypes) {
    if (dtype.number != number) continue;
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("{} is of dtype {}, which PyTorch 1.13.1 on the device lacks; export the model "
                                   "with another dtype",
                                   of_what, dtype.name));
  }
  fail_export(fmt::format("{} is of unknown dtype {}", of_what, number));
}

TensorMeta read_tensor_meta(const json& meta, const std::string& name) {
  constexpr int64_t kStrided = 7;
  const int64_t layout = integer_of(member(meta, "layout"));
  if (layout != kStrided) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("{} has a sparse or other layout ({}), a strided one needed; make it dense before "
                                   "torch.export",
                                   name, layout));
  }
  const TensorMeta result{read_dtype(integer_of(member(meta, "dtype")), name), read_sizes(member(meta, "sizes")),
                          read_sizes(member(meta, "strides")), read_size(member(meta, "storage_offset"))};
  if (result.strides.size() != result.sizes.size()) {
    fail_export(fmt::format("{} has {} sizes and {} strides", name, result.sizes.size(), result.strides.size()));
  }
  return result;
}

}  // namespace nnapi_convert
