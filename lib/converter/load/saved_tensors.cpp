// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/saved_tensors.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "lib/base/begins_with.h"
#include "lib/base/damaged_file.h"
#include "lib/base/error.h"
#include "lib/converter/load/export_json.h"
#include "lib/converter/load/pickle.h"
#include "lib/types/mapped_memory.h"

namespace nnapi_convert {
namespace {

using Kind = PickleValue::Kind;

// Refuses what torch.save wrote rightly, and the program doesn't take.
[[noreturn]] void refuse_saved(const std::string& what) {
  throw ConvertError(ExitCode::kNotConvertible, what);
}

// Returns the record's memory mapped from the file; none if it is stored compressed, or not as LibTorch aligns tensors.
at::DataPtr mapped(const ArchiveFile& archive, const nnapi_shim::ZipRecord& record, SourceChecks* checks) {
  const auto begin = archive.data_begin(record);
  const uint64_t position = archive.file().begin + begin.value_or(0);
  if (!begin || !can_map(position, record.bytes)) return {};
  if (checks == nullptr || !ArchiveFile::has_checksum(record)) {
    return map_memory(archive.file().fd, position, record.bytes);
  }
  return map_unchecked(archive.file().fd, position, record.bytes, record.checksum, archive.checksum_problem(record),
                       *checks);
}

struct DtypeOfStorage {
  const char* name;
  c10::ScalarType dtype;
};
constexpr DtypeOfStorage kStorages[] = {
    {"torch\nFloatStorage", c10::kFloat},
    {"torch\nDoubleStorage", c10::kDouble},
    {"torch\nHalfStorage", c10::kHalf},
    {"torch\nBFloat16Storage", c10::kBFloat16},
    {"torch\nLongStorage", c10::kLong},
    {"torch\nIntStorage", c10::kInt},
    {"torch\nShortStorage", c10::kShort},
    {"torch\nCharStorage", c10::kChar},
    {"torch\nByteStorage", c10::kByte},
    {"torch\nBoolStorage", c10::kBool},
    {"torch\nQUInt8Storage", c10::kByte},
    {"torch\nQInt8Storage", c10::kChar},
    {"torch\nQInt32Storage", c10::kInt},
    {"torch\nComplexFloatStorage", c10::kComplexFloat},
    {"torch\nComplexDoubleStorage", c10::kComplexDouble},
};

double big_endian_double(std::string_view bytes) {
  uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Reads the archive that torch.save wrote.
class SavedValues {
 public:
  SavedValues(const ArchiveFile& archive, const std::string& name, SourceChecks* checks)
      : archive_(archive), name_(name), checks_(checks) {
    for (const nnapi_shim::ZipRecord& record : archive.records()) {
      const size_t slash = record.name.find('/');
      if (slash != std::string::npos) records_[record.name.substr(slash + 1)] = &record;
    }
    bytes_ = checked_bytes(archive, record("data.pkl"));
    pickle_ = read_pickle(bytes_, PickledBy::kTorchSave);
  }

  c10::IValue value() { return value(pickle_.root); }

 private:
  const nnapi_shim::ZipRecord& record(const std::string& name) const {
    const auto found = records_.find(name);
    if (found == records_.end()) fail_export(fmt::format("{} in entry {} is missing", name, name_));
    return *found->second;
  }

  // Returns the value. Makes each value once, however often others hold it.
  const c10::IValue& value(PickleId id) {
    const auto found = values_.find(id);
    return found != values_.end() ? found->second : values_.emplace(id, made(id)).first->second;
  }

  c10::IValue made(PickleId id) {
    const PickleValue& value = pickle_.at(id);
    switch (value.kind) {
      case Kind::kNone:
        return {};
      case Kind::kBool:
        return value.number != 0;
      case Kind::kInt:
        return value.number;
      case Kind::kDouble:
        return big_endian_double(value.text);
      case Kind::kString:
        return std::string(value.text);
      case Kind::kTuple:
        return c10::ivalue::Tuple::create(values(value));
      case Kind::kList: {
        c10::List<c10::IValue> list(c10::AnyType::get());
        for (c10::IValue& each : values(value)) list.push_back(std::move(each));
        return list;
      }
      case Kind::kDict:
        return dict(value);
      case Kind::kCall:
        return tensor(id);
      default:
        refuse_saved(fmt::format("entry {} holds an object that is no tensor", name_));
    }
  }

  std::vector<c10::IValue> values(const PickleValue& container) {
    std::vector<c10::IValue> result;
    for (const PickleId each : container.elements) result.push_back(value(each));
    return result;
  }

  c10::IValue dict(const PickleValue& value) {
    c10::impl::GenericDict result(c10::StringType::get(), c10::AnyType::get());
    for (size_t i = 0; i + 1 < value.elements.size(); i += 2) {
      const PickleValue& key = pickle_.at(value.elements[i]);
      if (key.kind != Kind::kString) {
        refuse_saved(fmt::format(
            "entry {} has a dict whose keys are no strings; give and take dicts with strings as keys", name_));
      }
      result.insert_or_assign(std::string(key.text), this->value(value.elements[i + 1]));
    }
    return result;
  }

  const PickleValue& argument(const PickleValue& call, size_t index, Kind kind) const {
    const std::vector<PickleId>& arguments = pickle_.at(call.elements[1]).elements;
    if (index >= arguments.size() || pickle_.at(arguments[index]).kind != kind) {
      fail_export(fmt::format("entry {} has a tensor without one of its parts", name_));
    }
    return pickle_.at(arguments[index]);
  }

  std::vector<int64_t> numbers(const PickleValue& tuple) const {
    std::vector<int64_t> result;
    for (const PickleId each : tuple.elements) {
      if (pickle_.at(each).kind != Kind::kInt) fail_export(fmt::format("entry {} has a size that is no number", name_));
      result.push_back(pickle_.at(each).number);
    }
    return result;
  }

  at::Tensor tensor(PickleId id) {
    const PickleValue& call = pickle_.at(id);
    const std::string_view function = pickle_.at(call.elements[0]).text;
    if (function == "torch._utils\n_rebuild_parameter" || function == "torch._utils\n_rebuild_parameter_with_state") {
      argument(call, 0, Kind::kCall);
      return value(pickle_.at(call.elements[1]).elements[0]).toTensor();
    }
    if (function == "torch._tensor\n_rebuild_from_type_v2") return rebuilt_from_type(call);
    if (function == "torch._utils\n_rebuild_tensor_v2") return rebuilt(call);
    if (function == "torch._utils\n_rebuild_qtensor") return rebuilt_quantised(call);
    fail_no_tensor(function);
  }

  [[noreturn]] void fail_no_tensor(std::string_view name) const {
    const char* hint = begins_with(name, "torchao") ? "; take torchao's tensors apart before torch.export: "
                                                      "torchao.utils.unwrap_tensor_subclass(model)"
                                                    : "";
    refuse_saved(
        fmt::format("entry {} holds {}, which is no plain tensor{}", name_, name.substr(name.find('\n') + 1), hint));
  }

  // Makes a tensor of (function, class, its arguments, attributes of the object), as torch.save writes one with
  // attributes.
  at::Tensor rebuilt_from_type(const PickleValue& call) {
    const std::string_view type = argument(call, 1, Kind::kGlobal).text;
    if (type != "torch\nTensor" && type != "torch._tensor\nTensor" && type != "torch.nn.parameter\nParameter") {
      fail_no_tensor(type);
    }
    argument(call, 2, Kind::kTuple);
    const std::vector<PickleId>& parts = pickle_.at(call.elements[1]).elements;
    PickleValue inner;
    inner.kind = Kind::kCall;
    inner.elements = {parts[0], parts[2]};
    const std::string_view function = argument(call, 0, Kind::kGlobal).text;
    if (function == "torch._utils\n_rebuild_tensor_v2") return rebuilt(inner);
    fail_no_tensor(function);
  }

  // Makes a tensor of (storage, offset, sizes, strides, ...).
  at::Tensor rebuilt(const PickleValue& call) {
    const PickleValue& storage = argument(call, 0, Kind::kPersistent);
    const int64_t offset = argument(call, 1, Kind::kInt).number;
    const auto sizes = numbers(argument(call, 2, Kind::kTuple)), strides = numbers(argument(call, 3, Kind::kTuple));
    // ("storage", class, key, device, elements)
    const std::vector<PickleId>& parts = pickle_.at(storage.elements[0]).elements;
    if (parts.size() < 3 || pickle_.at(parts[1]).kind != Kind::kGlobal || pickle_.at(parts[2]).kind != Kind::kString) {
      fail_export(fmt::format("entry {} has a tensor without a storage", name_));
    }
    const std::string_view type = pickle_.at(parts[1]).text;
    const auto* const found = std::find_if(std::begin(kStorages), std::end(kStorages),
                                           [&](const DtypeOfStorage& each) { return type == each.name; });
    if (found == std::end(kStorages)) {
      refuse_saved(fmt::format("entry {} has a tensor of {}, which PyTorch 1.13.1 on the device lacks", name_,
                               type.substr(type.find('\n') + 1)));
    }
    return tensor_in(storage_named(std::string(pickle_.at(parts[2]).text)), found->dtype, sizes, strides, offset,
                     name_);
  }

  // Makes a quantised tensor of rebuilt()'s arguments with (scheme, scale, zero point) behind the strides.
  at::Tensor rebuilt_quantised(const PickleValue& call) {
    const std::vector<PickleId>& parameters = argument(call, 4, Kind::kTuple).elements;
    const bool is_per_tensor = parameters.size() == 3 && pickle_.at(parameters[0]).text == "torch\nper_tensor_affine" &&
                               pickle_.at(parameters[1]).kind == Kind::kDouble &&
                               pickle_.at(parameters[2]).kind == Kind::kInt;
    if (!is_per_tensor) refuse_saved(fmt::format("entry {} holds a quantised tensor without one scale", name_));
    return at::_make_per_tensor_quantized_tensor(rebuilt(call), big_endian_double(pickle_.at(parameters[1]).text),
                                                 pickle_.at(parameters[2]).number);
  }

  const c10::Storage& storage_named(const std::string& key) {
    const auto found = storages_.find(key);
    if (found != storages_.end()) return found->second;
    return storages_.emplace(key, storage_of(archive_, record("data/" + key), checks_)).first->second;
  }

  const ArchiveFile& archive_;
  std::string name_;
  SourceChecks* checks_;
  std::map<std::string, const nnapi_shim::ZipRecord*> records_;
  std::string bytes_;
  Pickle pickle_;
  std::map<PickleId, c10::IValue> values_;
  std::map<std::string, c10::Storage> storages_;
};

// True if the tensor's last element is one of the storage's `elements`, or it has none. False on overflow.
bool fits(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides, int64_t offset, uint64_t elements) {
  if (offset < 0 || sizes.size() != strides.size()) return false;
  uint64_t last = static_cast<uint64_t>(offset), count = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || strides[i] < 0) return false;
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(sizes[i]), &count) || count > (uint64_t{1} << 48)) {
      return false;
    }
    if (sizes[i] == 0) continue;
    uint64_t step = 0;
    if (__builtin_mul_overflow(static_cast<uint64_t>(sizes[i] - 1), static_cast<uint64_t>(strides[i]), &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return false;
    }
  }
  return count == 0 || last < elements;
}

}  // namespace

std::string checked_bytes(const ArchiveFile& archive, const nnapi_shim::ZipRecord& record) {
  try {
    return archive.content(record);
  } catch (const DamagedFile& error) {
    throw DamagedFile(fmt::format("entry {}: {}", record.name, error.what()));
  } catch (const ConvertError& error) {
    fail_export(fmt::format("entry {}: {}", record.name, error.what()));
  }
}

c10::Storage storage_of(const ArchiveFile& archive, const nnapi_shim::ZipRecord& record, SourceChecks* checks) {
  at::DataPtr data = mapped(archive, record, checks);
  if (!data) {
    const std::string bytes = checked_bytes(archive, record);
    data = c10::GetCPUAllocator()->allocate(bytes.size());
    if (!bytes.empty()) std::memcpy(data.get(), bytes.data(), bytes.size());
  }
  return c10::Storage(c10::Storage::use_byte_size_t(), static_cast<size_t>(record.bytes), std::move(data), nullptr,
                      false);
}

at::Tensor tensor_in(const c10::Storage& storage, c10::ScalarType dtype, const std::vector<int64_t>& sizes,
                     const std::vector<int64_t>& strides, int64_t offset, const std::string& name) {
  if (!fits(sizes, strides, offset, storage.nbytes() / c10::elementSize(dtype))) {
    throw DamagedFile(
        fmt::format("{} of sizes [{}] lies outside its {} bytes", name, fmt::join(sizes, ", "), storage.nbytes()));
  }
  at::Tensor tensor = at::empty({0}, at::TensorOptions(dtype));
  return tensor.set_(storage, offset, sizes, strides);
}

at::Tensor tensor_in(const c10::Storage& storage, const TensorMeta& meta, const std::string& name) {
  std::vector<int64_t> sizes, strides;
  for (const auto* list : {&meta.sizes, &meta.strides}) {
    for (const ExportedSize& size : *list) {
      if (!size.number) fail_export(fmt::format("{} has a size that is no number", name));
      (list == &meta.sizes ? sizes : strides).push_back(*size.number);
    }
  }
  if (!meta.offset.number) fail_export(fmt::format("{} has an offset that is no number", name));
  return tensor_in(storage, meta.dtype, sizes, strides, *meta.offset.number, name);
}

c10::IValue load_saved(const std::string& path) {
  const ArchiveFile saved(path);
  if (saved.records().empty()) fail_export("the file is not what torch.save writes");
  saved.check_records();
  SourceChecks checks(saved.file().fd);
  c10::IValue value = SavedValues(saved, "data.pkl", &checks).value();
  checks.finish();
  return value;
}

c10::IValue load_saved(const ArchiveFile& archive, const std::string& path, const nnapi_shim::ZipRecord& record,
                       SourceChecks* checks) {
  const auto begin = archive.data_begin(record);
  if (!begin) fail_export(fmt::format("entry {} is packed, and an archive within is read only as it is", record.name));
  const ArchiveFile saved(path, archive.file().begin + *begin, record.bytes);
  if (saved.records().empty()) fail_export(fmt::format("entry {} is not what torch.save writes", record.name));
  saved.check_records();
  return SavedValues(saved, record.name, checks).value();
}

}  // namespace nnapi_convert
