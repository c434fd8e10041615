// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/traced_inputs.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "lib/base/count.h"
#include "lib/base/error.h"
#include "lib/converter/load/pickle.h"

namespace nnapi_convert {
namespace {

using Kind = PickleValue::Kind;

constexpr const char* kRecord = "traced_inputs.pkl";

[[noreturn]] void fail() {
  throw ConvertError(ExitCode::kBadFile, "no traced inputs");
}

double real(std::string_view bytes) {
  uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
  double result = 0;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

at::ScalarType dtype_of(std::string_view storage) {
  static const std::map<std::string_view, at::ScalarType> dtypes = {
      {"torch\nFloatStorage", at::kFloat},  {"torch\nDoubleStorage", at::kDouble},
      {"torch\nHalfStorage", at::kHalf},    {"torch\nBFloat16Storage", at::kBFloat16},
      {"torch\nIntStorage", at::kInt},      {"torch\nLongStorage", at::kLong},
      {"torch\nShortStorage", at::kShort},  {"torch\nCharStorage", at::kChar},
      {"torch\nByteStorage", at::kByte},    {"torch\nBoolStorage", at::kBool},
      {"torch\nQUInt8Storage", at::kQUInt8}};
  const auto found = dtypes.find(storage);
  if (found == dtypes.end()) fail();
  return found->second;
}

class TracedInputs {
 public:
  explicit TracedInputs(const Pickle& pickle) : pickle_(pickle) {}

  std::vector<c10::IValue> of(const std::string& method) const {
    const c10::IValue methods = value(pickle_.root);
    if (!methods.isGenericDict() || !methods.toGenericDict().contains(method)) return {};
    const c10::IValue arguments = methods.toGenericDict().at(method);
    return arguments.isList() ? arguments.toListRef().vec() : std::vector<c10::IValue>();
  }

 private:
  c10::IValue value(PickleId id) const {
    const PickleValue& found = pickle_.at(id);
    switch (found.kind) {
      case Kind::kNone:
        return {};
      case Kind::kBool:
        return found.number != 0;
      case Kind::kInt:
        return found.number;
      case Kind::kDouble:
        return real(found.text);
      case Kind::kString:
        return std::string(found.text);
      case Kind::kTuple:
        return c10::ivalue::Tuple::create(values(found));
      case Kind::kList:
        return list(found);
      case Kind::kDict:
        return dict(found);
      case Kind::kCall:
        return call(found);
      default:
        fail();
    }
  }

  std::vector<c10::IValue> values(const PickleValue& container) const {
    std::vector<c10::IValue> result;
    for (const PickleId id : container.elements) result.push_back(value(id));
    return result;
  }

  c10::IValue list(const PickleValue& found) const {
    c10::impl::GenericList result(c10::AnyType::get());
    for (c10::IValue& element : values(found)) result.push_back(std::move(element));
    return result;
  }

  c10::IValue dict(const PickleValue& found) const {
    c10::impl::GenericDict result(c10::StringType::get(), c10::AnyType::get());
    for (size_t i = 0; i + 1 < found.elements.size(); i += 2) {
      pickle_.at(found.elements[i], Kind::kString);
      result.insert(value(found.elements[i]), value(found.elements[i + 1]));
    }
    return result;
  }

  c10::IValue call(const PickleValue& found) const {
    const std::string_view name = pickle_.at(found.elements[0]).text;
    const PickleValue& arguments = pickle_.at(found.elements[1], Kind::kTuple, 2);
    if (name == "torch.jit._pickle\nrestore_type_tag") return value(arguments.elements[0]);
    if (name == "torch._utils\n_rebuild_tensor_v2")
      return tensor(pickle_.at(found.elements[1], Kind::kTuple, 6), nullptr);
    if (name != "torch._utils\n_rebuild_qtensor") fail();
    const PickleValue& parts = pickle_.at(found.elements[1], Kind::kTuple, 6);
    return tensor(parts, &pickle_.at(parts.elements[4], Kind::kTuple, 3));
  }

  // Makes a tensor of (storage, offset, sizes, strides, ...); a quantised one has (scheme, scale, zero point) next.
  c10::IValue tensor(const PickleValue& parts, const PickleValue* quantiser) const {
    const PickleValue& storage =
        pickle_.at(pickle_.at(parts.elements[0], Kind::kPersistent, 1).elements[0], Kind::kTuple, 5);
    const at::ScalarType dtype = dtype_of(pickle_.at(storage.elements[1], Kind::kGlobal).text);
    std::vector<int64_t> sizes;
    for (const PickleId size : pickle_.at(parts.elements[2], Kind::kTuple).elements) {
      sizes.push_back(pickle_.at(size, Kind::kInt).number);
      if (sizes.back() < 0) fail();
    }
    if (!product_of(sizes).is_known()) fail();
    const std::vector<int64_t> ones(sizes.size(), 1);
    if ((quantiser != nullptr) != c10::isQIntType(dtype)) fail();
    if (quantiser == nullptr) return at::zeros(ones, dtype).expand(sizes);
    const double scale = real(pickle_.at(quantiser->elements[1], Kind::kDouble).text);
    if (pickle_.at(quantiser->elements[0], Kind::kGlobal).text != "torch\nper_tensor_affine" || !std::isfinite(scale))
      fail();
    return at::quantize_per_tensor(at::zeros(ones), scale, pickle_.at(quantiser->elements[2], Kind::kInt).number, dtype)
        .expand(sizes);
  }

  const Pickle& pickle_;
};

}  // namespace

std::vector<c10::IValue> read_traced_inputs(ModelArchive& archive, const std::string& method) {
  if (!archive.has(kRecord)) return {};
  const std::shared_ptr<const std::string> content = archive.content(kRecord);
  try {
    const Pickle pickle = read_pickle(*content);
    return TracedInputs(pickle).of(method);
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace nnapi_convert
