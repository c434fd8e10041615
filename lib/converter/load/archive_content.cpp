// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/archive_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "lib/base/begins_with.h"
#include "lib/base/count.h"
#include "lib/base/damaged_file.h"
#include "lib/base/error.h"
#include "lib/converter/load/pickle.h"

namespace nnapi_convert {
namespace {

using Kind = PickleValue::Kind;

// Refuses content that PyTorch doesn't write, or that would exhaust LibTorch's memory or stack.
[[noreturn]] void fail(const std::string& what) {
  throw ConvertError(ExitCode::kBadFile, what);
}

// Refuses lengths that contradict each other.
[[noreturn]] void fail_damaged(const std::string& what) {
  throw DamagedFile(what);
}

bool has_ending(const std::string& text, const std::string& part) {
  return text.size() >= part.size() && text.compare(text.size() - part.size(), part.size(), part) == 0;
}

// Returns the elements of a value of this kind. Throws ConvertError for another kind, and for fewer elements than
// `least`.
const std::vector<PickleId>& elements(const Pickle& pickle, PickleId id, Kind kind, size_t least, const char* what) {
  const PickleValue& value = pickle.at(id);
  if (value.kind != kind || value.elements.size() < least) fail(fmt::format("no {} found where one is needed", what));
  return value.elements;
}

int64_t integer(const Pickle& pickle, PickleId id, const char* what) {
  if (pickle.at(id).kind != Kind::kInt) fail(fmt::format("no number found for {}", what));
  return pickle.at(id).number;
}

std::string_view text(const Pickle& pickle, PickleId id, const char* what) {
  if (pickle.at(id).kind != Kind::kString) fail(fmt::format("no text found for {}", what));
  return pickle.at(id).text;
}

// Returns how many numbers share a byte.
int64_t numbers_in_byte(std::string_view storage) {
  return storage == "torch\nQUInt4x2Storage" ? 2 : storage == "torch\nQUInt2x4Storage" ? 4 : 1;
}

std::optional<int64_t> element_bytes(std::string_view storage) {
  static const std::map<std::string_view, int64_t> sizes = {
      {"torch\nFloatStorage", 4},       {"torch\nDoubleStorage", 8},       {"torch\nHalfStorage", 2},
      {"torch\nBFloat16Storage", 2},    {"torch\nIntStorage", 4},          {"torch\nLongStorage", 8},
      {"torch\nShortStorage", 2},       {"torch\nCharStorage", 1},         {"torch\nByteStorage", 1},
      {"torch\nBoolStorage", 1},        {"torch\nQUInt8Storage", 1},       {"torch\nQInt8Storage", 1},
      {"torch\nQInt32Storage", 4},      {"torch\nQUInt4x2Storage", 1},     {"torch\nQUInt2x4Storage", 1},
      {"torch\nComplexHalfStorage", 4}, {"torch\nComplexFloatStorage", 8}, {"torch\nComplexDoubleStorage", 16}};
  const auto found = sizes.find(storage);
  return found == sizes.end() ? std::nullopt : std::optional<int64_t>(found->second);
}

// Returns the dtype, such as "uint16", of a storage that PyTorch got after 1.13.1; empty for other storages.
std::string newer_dtype(std::string_view storage) {
  for (const char* begin : {"torch\nUInt", "torch\nFloat8_", "torch\nFloat4_", "torch\nBits", "torch\nInt1Storage"}) {
    if (storage.rfind(begin, 0) != 0) continue;
    const size_t first = storage.find('\n') + 1;
    std::string name(storage.substr(first, storage.rfind("Storage") - first));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
  }
  return "";
}

// Checks the model's values: each storage has to lie within its record, each tensor within its storage.
class ValueCheck {
 public:
  ValueCheck(const Pickle& pickle, std::string folder, const RecordSizes& sizes)
      : pickle_(pickle), folder_(std::move(folder)), sizes_(sizes) {}

  void run() const {
    for (const PickleValue& value : pickle_.values) {
      if (value.kind == Kind::kPersistent) storage(value);
      if (value.kind == Kind::kCall) check_call(value);
    }
  }

 private:
  // Limit for tensors that strides of 0 make larger than their storage: they become so large when they are made
  // contiguous.
  static constexpr int64_t kMostGrown = int64_t{256} << 20;

  struct Storage {
    int64_t count = 0, element_bytes = 1, in_byte = 1;  // of numbers that share bytes `count` is that of the bytes
  };

  // Reads ("storage", type, key, device, count of elements).
  Storage storage(const PickleValue& value) const {
    const auto& parts = elements(pickle_, value.elements[0], Kind::kTuple, 5, "storage");
    if (text(pickle_, parts[0], "a storage's kind") != "storage") fail("no storage found where one is needed");
    if (pickle_.at(parts[1]).kind != Kind::kGlobal) fail("a storage without a type found");
    const std::string_view type = pickle_.at(parts[1]).text;
    const auto bytes = element_bytes(type);
    if (const std::string dtype = newer_dtype(type); !bytes && !dtype.empty()) throw NewerDtype(dtype);
    if (!bytes) fail(fmt::format("a storage of unknown type {} found", type.substr(type.find('\n') + 1)));
    const std::string key(text(pickle_, parts[2], "a storage's name"));
    text(pickle_, parts[3], "a storage's device");
    const int64_t count = integer(pickle_, parts[4], "a storage's elements");
    const auto record = sizes_.find(folder_ + key);
    const Count needed = Count(count) * *bytes;
    const uint64_t found = record == sizes_.end() ? 0 : record->second;
    if (count < 0 || !needed.is_known() || static_cast<uint64_t>(needed.value_or(0)) > found) {
      fail_damaged(fmt::format("a storage of {} elements of {} bytes needed, {} bytes found in {}{}", count, *bytes,
                               found, folder_, key));
    }
    return {count, *bytes, numbers_in_byte(type)};
  }

  void check_call(const PickleValue& call) const {
    const std::string_view name = pickle_.at(call.elements[0]).text;
    const PickleId arguments = call.elements[1];
    if (name == "torch._utils\n_rebuild_tensor_v2" || name == "torch._utils\n_rebuild_qtensor") {
      check_tensor(elements(pickle_, arguments, Kind::kTuple, 6, "tensor"));
    } else if (name == "torch.jit._pickle\nrestore_type_tag") {
      check_type(text(pickle_, elements(pickle_, arguments, Kind::kTuple, 2, "type")[1], "a type"));
    } else if (name == "torch.jit._pickle\nbuild_tensor_from_id") {
      fail("a tensor of another archive found");
    }
  }

  std::vector<int64_t> sizes(PickleId id) const {
    std::vector<int64_t> result;
    for (const PickleId size : elements(pickle_, id, Kind::kTuple, 0, "list of sizes")) {
      result.push_back(integer(pickle_, size, "a size"));
      if (result.back() < 0) fail(fmt::format("a size of {} found", result.back()));
    }
    return result;
  }

  // Checks (storage, offset, sizes, strides, ...).
  void check_tensor(const std::vector<PickleId>& parts) const {
    if (pickle_.at(parts[0]).kind != Kind::kPersistent) fail("a tensor without a storage found");
    const Storage of = storage(pickle_.at(parts[0]));
    const int64_t offset = integer(pickle_, parts[1], "a tensor's offset");
    const std::vector<int64_t> shape = sizes(parts[2]), strides = sizes(parts[3]);
    if (offset < 0 || shape.size() != strides.size()) {
      fail(fmt::format("a tensor of {} sizes, {} strides and offset {} found", shape.size(), strides.size(), offset));
    }
    const Count count = product_of(shape);
    if (count == 0) return;
    if (of.in_byte > 1) return check_shared_bytes(of, offset, shape, strides);
    Count last = offset;
    for (size_t axis = 0; axis < shape.size(); ++axis) last += Count(shape[axis] - 1) * strides[axis];
    const bool is_inside = last.is_known() && last.value_or(0) < of.count;
    const bool grows = count.value_or_most() > std::max(of.count, kMostGrown / of.element_bytes);
    if (!is_inside || grows) {
      fail_damaged(fmt::format("a tensor of sizes [{}] and strides [{}] at {} found in a storage of {} elements",
                               fmt::join(shape, ", "), fmt::join(strides, ", "), offset, of.count));
    }
  }

  // Checks a tensor whose numbers share bytes. Each row begins with a byte of its own.
  static void check_shared_bytes(const Storage& of, int64_t offset, const std::vector<int64_t>& shape,
                                 const std::vector<int64_t>& strides) {
    Count needed = 1, stride = 1;
    bool is_dense = offset == 0 && !shape.empty();
    for (size_t axis = shape.size(); axis-- > 0;) {
      is_dense = is_dense && (shape[axis] == 1 || stride == Count(strides[axis]));
      stride *= shape[axis];
      const int64_t packed = shape[axis] / of.in_byte + (shape[axis] % of.in_byte == 0 ? 0 : 1);
      needed *= (axis + 1 == shape.size() ? packed : shape[axis]);
    }
    if (is_dense && needed.is_known() && needed.value_or(0) <= of.count) return;
    fail_damaged(fmt::format("a tensor of sizes [{}] and strides [{}] at {} found in {} bytes of {} numbers each",
                             fmt::join(shape, ", "), fmt::join(strides, ", "), offset, of.count, of.in_byte));
  }

  // Checks a type such as "Dict[str, List[Tensor]]", which may have names of classes, too.
  static void check_type(std::string_view type) {
    constexpr int kMostNested = 64;
    int nested = 0;
    for (const char letter : type) {
      nested += letter == '[' || letter == '(' ? 1 : letter == ']' || letter == ')' ? -1 : 0;
      if (nested < 0 || nested > kMostNested || letter < ' ' || letter > '~') break;
    }
    if (nested != 0 || type.empty()) fail(fmt::format("no type found in \"{}\"", type.substr(0, 100)));
  }

  const Pickle& pickle_;
  std::string folder_;
  const RecordSizes& sizes_;
};

bool is_special(std::string_view name) {
  return name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__";
}

// Refuses " name = value" in a class: constants are written with their type.
void check_line(std::string_view line, size_t number) {
  const size_t begin = line.find_first_not_of(' ');
  const size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", begin);
  if (begin != 2 || end == std::string_view::npos || end == begin) return;
  const std::string_view name = line.substr(begin, end - begin), rest = line.substr(end);
  const size_t sign = rest.find_first_not_of(' ');
  const bool assigns = sign != std::string_view::npos && rest[sign] == '=' && rest.substr(sign, 2) != "==";
  if (assigns && !is_special(name)) fail(fmt::format("line {}: {} has no type", number, name));
}

// Refuses names that TorchScript's lexer doesn't read. A text in quotes may have any letters, and ends with its line.
void check_letters(std::string_view line, size_t number) {
  if (std::none_of(line.begin(), line.end(), [](char letter) { return (letter & '\x80') != 0; })) return;
  bool is_text = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (is_text && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      is_text = !is_text;
    } else if (!is_text && (line[i] & '\x80') != 0) {
      fail(fmt::format(
          "line {} has a name with letters beyond ASCII, and PyTorch itself doesn't read TorchScript of such "
          "a name; rename it in Python, and save the model again",
          number));
    }
  }
}

void check_code(std::string_view code) {
  constexpr int kMostNested = 256;
  int nested = 0;
  size_t number = 0;
  bool has_typed_constants = false;  // of a class other than an enum: elements of enums are "name = value"
  while (!code.empty()) {
    const std::string_view line = code.substr(0, code.find('\n'));
    code.remove_prefix(std::min(code.size(), line.size() + 1));
    ++number;
    if (!line.empty() && line[0] != ' ') {
      has_typed_constants = begins_with(line, "class ") && line.find("(Enum):") == std::string_view::npos;
    }
    if (has_typed_constants && nested == 0) check_line(line, number);
    check_letters(line, number);
    for (const char letter : line) {
      nested = std::max(0, nested + (letter == '(' || letter == '[' ? 1 : letter == ')' || letter == ']' ? -1 : 0));
      if (nested > kMostNested) fail(fmt::format("line {}: more than {} open brackets", number, kMostNested));
    }
  }
}

}  // namespace

void check_content(const std::string& record, std::string_view bytes, const RecordSizes& sizes) {
  if (has_ending(record, ".py")) return check_code(bytes);
  if (record == "data.pkl" || record == "constants.pkl") {
    const Pickle pickle = read_pickle(bytes);
    ValueCheck(pickle, record == "data.pkl" ? "data/" : "constants/", sizes).run();
  }
}

}  // namespace nnapi_convert
