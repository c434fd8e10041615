// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "lib/base/begins_with.h"
#include "lib/base/damaged_file.h"
#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

using Kind = PickleValue::Kind;

// Limit for levels of nested values: LibTorch makes and destroys them by recursion.
constexpr uint32_t kMostLevels = 1000;

// Throws for bytes that no pickle has.
[[noreturn]] void fail_damaged(const std::string& what) {
  throw DamagedFile(what);
}

// Throws for a pickle that PyTorch doesn't write, or that this reader doesn't take.
[[noreturn]] void refuse(const std::string& what) {
  throw ConvertError(ExitCode::kBadFile, what);
}

// Returns the name of an opcode that this reader doesn't take, of Python's protocols 0 to 5 (Lib/pickle.py); null for
// others.
const char* name_of_other_opcode(char opcode) {
  static const std::unordered_map<char, const char*> names = {{'I', "INT"},
                                                              {'L', "LONG"},
                                                              {'F', "FLOAT"},
                                                              {'S', "STRING"},
                                                              {'T', "BINSTRING"},
                                                              {'U', "SHORT_BINSTRING"},
                                                              {'V', "UNICODE"},
                                                              {'B', "BINBYTES"},
                                                              {'C', "SHORT_BINBYTES"},
                                                              {'\x8e', "BINBYTES8"},
                                                              {'\x96', "BYTEARRAY8"},
                                                              {'\x97', "NEXT_BUFFER"},
                                                              {'\x98', "READONLY_BUFFER"},
                                                              {'d', "DICT"},
                                                              {'\x8f', "EMPTY_SET"},
                                                              {'\x90', "ADDITEMS"},
                                                              {'\x91', "FROZENSET"},
                                                              {'0', "POP"},
                                                              {'1', "POP_MARK"},
                                                              {'2', "DUP"},
                                                              {'g', "GET"},
                                                              {'p', "PUT"},
                                                              {'i', "INST"},
                                                              {'o', "OBJ"},
                                                              {'P', "PERSID"},
                                                              {'\x92', "NEWOBJ_EX"},
                                                              {'\x8b', "LONG4"},
                                                              {'\x82', "EXT1"},
                                                              {'\x83', "EXT2"},
                                                              {'\x84', "EXT4"}};
  const auto found = names.find(opcode);
  return found == names.end() ? nullptr : found->second;
}

class PickleReader {
 public:
  PickleReader(std::string_view bytes, PickledBy by) : bytes_(bytes), by_(by) {}

  Pickle run() {
    while (step()) {
    }
    if (stack_.size() != 1 || !marks_.empty())
      fail_damaged(fmt::format("{} values found at its end, 1 needed", stack_.size()));
    pickle_.root = stack_[0];
    check_levels();
    return std::move(pickle_);
  }

 private:
  // Reads one opcode and its values. Returns false at the pickle's end.
  bool step() {
    const char opcode = take(1)[0];
    switch (opcode) {
      case '.':
        return false;
      case '\x80':  // PROTO
        take(1);
        return true;
      case '\x95':  // FRAME: how many bytes Python reads at once
        take(sizeof(uint64_t));
        return true;
      case '(':
        marks_.push_back(stack_.size());
        return true;
      default:
        if (!read_scalar(opcode) && !read_container(opcode) && !read_memo(opcode) && !read_call(opcode)) {
          fail_at_opcode(opcode);
        }
        return true;
    }
  }

  [[noreturn]] void fail_at_opcode(char opcode) const {
    if (const char* name = name_of_other_opcode(opcode)) {
      refuse(
          fmt::format("pickle opcode {} found at byte {}, which torch.save doesn't use for tensors, numbers, texts, "
                      "tuples, lists and dicts",
                      name, at_ - 1));
    }
    fail_damaged(fmt::format("byte {} found at byte {}, which begins no opcode of a pickle",
                             static_cast<unsigned char>(opcode), at_ - 1));
  }

  bool read_scalar(char opcode) {
    switch (opcode) {
      case 'N':
        push({});
        return true;
      case '\x88':
      case '\x89':
        push({Kind::kBool, opcode == '\x88', {}, {}});
        return true;
      case 'K':
        push({Kind::kInt, number<uint8_t>(), {}, {}});
        return true;
      case 'M':
        push({Kind::kInt, number<uint16_t>(), {}, {}});
        return true;
      case 'J':
        push({Kind::kInt, number<int32_t>(), {}, {}});
        return true;
      case '\x8a':
        push({Kind::kInt, long_number(), {}, {}});
        return true;
      case 'G':
        push({Kind::kDouble, 0, take(sizeof(double)), {}});
        return true;
      case 'X':
        push({Kind::kString, 0, take(number<uint32_t>()), {}});
        return true;
      case '\x8c':
        push({Kind::kString, 0, take(number<uint8_t>()), {}});
        return true;
      case '\x8d':
        push({Kind::kString, 0, take(number<uint64_t>()), {}});
        return true;
      default:
        return false;
    }
  }

  bool read_container(char opcode) {
    switch (opcode) {
      case ')':
        push({Kind::kTuple, 0, {}, {}});
        return true;
      case ']':
        push({Kind::kList, 0, {}, {}});
        return true;
      case '}':
        push({Kind::kDict, 0, {}, {}});
        return true;
      case 't':
        push({Kind::kTuple, 0, {}, since_mark()});
        return true;
      case 'l':
        push({Kind::kList, 0, {}, since_mark()});
        return true;
      case '\x85':
      case '\x86':
      case '\x87':
        push({Kind::kTuple, 0, {}, pop(static_cast<size_t>(opcode - '\x84'))});
        return true;
      case 'a':
        extend(Kind::kList, pop(1));
        return true;
      case 'e':
        extend(Kind::kList, since_mark());
        return true;
      case 's':
        extend(Kind::kDict, pop(2));
        return true;
      case 'u':
        extend(Kind::kDict, since_mark());
        return true;
      default:
        return false;
    }
  }

  bool read_memo(char opcode) {
    switch (opcode) {
      case 'q':
        memo_[memo_number(number<uint8_t>())] = top();
        return true;
      case 'r':
        memo_[memo_number(number<uint32_t>())] = top();
        return true;
      case '\x94':  // MEMOIZE
        memo_[static_cast<uint32_t>(memo_.size())] = top();
        return true;
      case 'h':
        recall(number<uint8_t>());
        return true;
      case 'j':
        recall(number<uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool read_call(char opcode) {
    switch (opcode) {
      case 'c':
        push({Kind::kGlobal, 0, name(), {}});
        return true;
      case '\x93':  // STACK_GLOBAL
        push({Kind::kGlobal, 0, name_of_parts(pop(2)), {}});
        return true;
      case '\x81': {  // a class and no arguments
        const std::vector<PickleId> parts = pop(2);
        need(parts[0], Kind::kGlobal, "a class");
        need(parts[1], Kind::kTuple, "a tuple of arguments");
        if (!pickle_.at(parts[1]).elements.empty()) refuse("a class with arguments found");
        push({Kind::kObject, 0, {}, {parts[0]}});
        return true;
      }
      case 'b': {
        const PickleId state = pop(1)[0];
        if (by_ == PickledBy::kTorchSave && pickle_.at(top()).kind == Kind::kDict) return true;
        need(top(), Kind::kObject, "an object");
        if (pickle_.at(top()).elements.size() != 1) refuse("an object with two states found");
        pickle_.values[top()].elements.push_back(state);
        return true;
      }
      case 'R': {
        std::vector<PickleId> parts = pop(2);
        need(parts[0], Kind::kGlobal, "a function");
        if (!is_class_of_code(parts[0])) need(parts[1], Kind::kTuple, "a tuple of arguments");
        if (is_ordered_dict(parts)) {
          push({Kind::kDict, 0, {}, {}});
          return true;
        }
        push({Kind::kCall, 0, {}, std::move(parts)});
        return true;
      }
      case 'Q': {
        std::vector<PickleId> parts = pop(1);
        need(parts[0], Kind::kTuple, "a tuple");
        push({Kind::kPersistent, 0, {}, std::move(parts)});
        return true;
      }
      default:
        return false;
    }
  }

  std::string_view take(uint64_t count) {
    if (count > bytes_.size() - at_) {
      fail_damaged(fmt::format("{} bytes needed at byte {}, {} found", count, at_, bytes_.size() - at_));
    }
    const std::string_view taken = bytes_.substr(at_, static_cast<size_t>(count));
    at_ += taken.size();
    return taken;
  }

  template <typename Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  bool is_ordered_dict(const std::vector<PickleId>& call) const {
    return by_ == PickledBy::kTorchSave && pickle_.at(call[0]).text == "collections\nOrderedDict" &&
           pickle_.at(call[1]).elements.empty();
  }

  // True for a class of the archive's code: TorchScript writes an enum's element as its class, called with the
  // element's value.
  bool is_class_of_code(PickleId id) const {
    return by_ == PickledBy::kTorchScript && begins_with(pickle_.at(id).text, "__torch__");
  }

  // Reads an integer of up to 8 bytes, the last of which has the sign.
  int64_t long_number() {
    const std::string_view digits = take(number<uint8_t>());
    if (digits.size() > sizeof(int64_t)) refuse(fmt::format("an integer of {} bytes found", digits.size()));
    uint64_t value = !digits.empty() && (digits.back() & '\x80') != 0 ? ~uint64_t{0} : 0;
    for (size_t i = digits.size(); i > 0; --i) value = value << 8 | static_cast<unsigned char>(digits[i - 1]);
    return static_cast<int64_t>(value);
  }

  // Reads a name of two lines: a module, and a class or function within it.
  std::string_view name() {
    const size_t first = bytes_.find('\n', at_);
    const size_t second = first == std::string_view::npos ? first : bytes_.find('\n', first + 1);
    if (second == std::string_view::npos) {
      fail_damaged(fmt::format("a name without an end found at byte {}", at_));
    }
    const std::string_view text = take(second - at_);
    take(1);
    check_name(text);
    return text;
  }

  // Joins a module and a name within it, which are two values.
  std::string_view name_of_parts(const std::vector<PickleId>& parts) {
    for (const PickleId part : parts) need(part, Kind::kString, "a text");
    const std::string_view module = pickle_.at(parts[0]).text, name = pickle_.at(parts[1]).text;
    const auto text = std::make_shared<const std::string>(fmt::format("{}\n{}", module, name));
    check_name(*text);
    pickle_.joined_texts.push_back(text);
    return *text;
  }

  // Throws unless the text is a name such as "module.part\nName".
  void check_name(std::string_view text) const {
    if (std::any_of(text.begin(), text.end(), [](char letter) { return (letter & '\x80') != 0; })) {
      refuse(
          fmt::format("the name {} has letters beyond ASCII, and PyTorch itself doesn't read TorchScript of such a "
                      "module or class; rename it in Python, and save the model again",
                      shown(text)));
    }
    const bool is_name = std::all_of(text.begin(), text.end(),
                                     [](char letter) { return letter == '\n' || (letter > ' ' && letter <= '~'); });
    const bool has_empty_part = text.empty() || text.front() == '.' || text.front() == '\n' || text.back() == '\n' ||
                                text.back() == '.' || text.find("..") != std::string_view::npos ||
                                text.find(".\n") != std::string_view::npos ||
                                text.find("\n.") != std::string_view::npos;
    const bool has_two_lines = std::count(text.begin(), text.end(), '\n') == 1;
    if (is_name && !has_empty_part && has_two_lines) return;
    fail_damaged(fmt::format("no qualified name found before byte {}", at_));
  }

  // Returns the name as Python has it, "module.part.Name".
  static std::string shown(std::string_view text) {
    constexpr std::string_view kOfScripts = "__torch__.";
    if (begins_with(text, kOfScripts)) text.remove_prefix(kOfScripts.size());
    std::string name(text.substr(0, 100));
    std::replace(name.begin(), name.end(), '\n', '.');
    return name;
  }

  void push(PickleValue value) {
    pickle_.values.push_back(std::move(value));
    stack_.push_back(static_cast<PickleId>(pickle_.values.size() - 1));
  }

  // Returns where the values above the last mark begin; those below can't be taken while the mark is there.
  size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleId top() const {
    if (stack_.size() <= bottom()) fail_damaged(fmt::format("no value found before byte {}", at_));
    return stack_.back();
  }
  std::vector<PickleId> pop(size_t count) {
    if (stack_.size() < bottom() + count) fail_damaged(fmt::format("{} values needed before byte {}", count, at_));
    const std::vector<PickleId> taken(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return taken;
  }
  std::vector<PickleId> since_mark() {
    if (marks_.empty()) fail_damaged(fmt::format("no mark found before byte {}", at_));
    std::vector<PickleId> taken = pop(stack_.size() - bottom());
    marks_.pop_back();
    return taken;
  }

  void extend(Kind kind, const std::vector<PickleId>& more) {
    need(top(), kind, kind == Kind::kList ? "a list" : "a dict");
    if (kind == Kind::kDict && more.size() % 2 != 0)
      fail_damaged(fmt::format("a key without a value found at byte {}", at_));
    std::vector<PickleId>& elements = pickle_.values[top()].elements;
    elements.insert(elements.end(), more.begin(), more.end());
  }

  void need(PickleId id, Kind kind, const char* what) const {
    if (pickle_.at(id).kind != kind) refuse(fmt::format("another value found before byte {}, {} needed", at_, what));
  }

  // Refuses a number that is larger than the count of values: LibTorch makes room for all smaller numbers.
  uint32_t memo_number(uint32_t number) const {
    if (number > pickle_.values.size())
      refuse(fmt::format("value {} of {} kept at byte {}", number, memo_.size(), at_));
    return number;
  }
  void recall(uint32_t number) {
    const auto found = memo_.find(number);
    if (found == memo_.end())
      fail_damaged(fmt::format("value {} needed at byte {}, which was never kept", number, at_));
    stack_.push_back(found->second);
  }

  // Counts how deep values are nested, elements before the values that hold them. No value may hold itself.
  void check_levels() const {
    enum : uint32_t { kUnseen = 0, kOpen = UINT32_MAX };
    std::vector<uint32_t> levels(pickle_.values.size(), kUnseen);
    std::vector<PickleId> path = {pickle_.root};
    while (!path.empty()) {
      const PickleId id = path.back();
      if (levels[id] == kUnseen) {
        levels[id] = kOpen;
        for (const PickleId element : pickle_.at(id).elements) {
          if (levels[element] == kOpen) refuse("a value that holds itself found");
          if (levels[element] == kUnseen) path.push_back(element);
        }
        continue;
      }
      path.pop_back();
      if (levels[id] != kOpen) continue;
      uint32_t most = 0;
      for (const PickleId element : pickle_.at(id).elements) most = std::max(most, levels[element]);
      if (most >= kMostLevels) refuse(fmt::format("more than {} levels of values found", kMostLevels));
      levels[id] = most + 1;
    }
  }

  std::string_view bytes_;
  PickledBy by_;
  size_t at_ = 0;
  Pickle pickle_;
  std::vector<PickleId> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, PickleId> memo_;
};

}  // namespace

const PickleValue& Pickle::at(PickleId id, PickleValue::Kind kind, size_t least) const {
  const PickleValue& value = values[id];
  if (value.kind != kind || value.elements.size() < least) refuse("a value of another kind or size found");
  return value;
}

Pickle read_pickle(std::string_view bytes, PickledBy by) {
  return PickleReader(bytes, by).run();
}

}  // namespace nnapi_convert
