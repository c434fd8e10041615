// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/pickle_outline.h"
#include "lib/base/begins_with.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

namespace nnapi_convert {
namespace {

// Stands for a value of the pickle. A dict keeps its keys without their values, so that no value holds another one.
struct PickledValue {
  enum class Kind { kOther, kMark, kString, kClass, kDict, kTensor, kObject };
  Kind kind = Kind::kOther;
  std::string text = {};  // of a string; the name of a class, or of an object's class
  std::vector<std::string> keys = {};
  size_t tensors = 0;
  std::string weights_key = {};
};
using ValueKind = PickledValue::Kind;
using Ref = std::shared_ptr<PickledValue>;

Ref value_of(ValueKind kind, std::string text = {}) {
  return std::make_shared<PickledValue>(PickledValue{kind, std::move(text)});
}

void set_item(PickledValue& dict, const PickledValue& key, const PickledValue& value) {
  if (key.kind == ValueKind::kString && dict.keys.size() < kMostPickleKeys) dict.keys.push_back(key.text);
  if (value.kind == ValueKind::kTensor) ++dict.tensors;
  const bool has_weights = value.kind == ValueKind::kDict && value.tensors > 0;
  if (has_weights && dict.weights_key.empty() && key.kind == ValueKind::kString) dict.weights_key = key.text;
}

Ref called(const PickledValue& callee) {
  if (callee.kind != ValueKind::kClass) return value_of(ValueKind::kOther);
  if (callee.text == "collections.OrderedDict") return value_of(ValueKind::kDict);
  if (begins_with(callee.text, "torch._utils._rebuild_")) return value_of(ValueKind::kTensor);
  return value_of(ValueKind::kObject, callee.text);
}

// Returns the class for torch.save's name of it before PyTorch 1.6, ("module", class, file, source); else a value of
// another kind.
Ref tuple_of(const std::vector<Ref>& elements) {
  const bool is_class = elements.size() > 1 && elements[0]->kind == ValueKind::kString &&
                        elements[0]->text == "module" && elements[1]->kind == ValueKind::kClass;
  return is_class ? elements[1] : value_of(ValueKind::kOther);
}

// Runs a pickle as the program that it is. Opcodes: Lib/pickle.py of Python, protocols 0 to 5.
class Machine {
 public:
  Machine(std::string_view bytes, size_t begin) : bytes_(bytes), at_(begin) {}

  // Runs up to the end of the pickle, or of the bytes. Returns false where the bytes are no pickle.
  bool run() {
    while (!is_cut_ && !is_done_) {
      const std::string_view opcode = take(1);
      if (!is_cut_ && !step(opcode[0])) return false;
    }
    if (is_cut_) close_all();
    return !stack_.empty();
  }

  size_t position() const { return at_; }
  const PickledValue& top() const { return *stack_.front(); }

 private:
  // Takes the next bytes; empty if there are fewer.
  std::string_view take(uint64_t count) {
    if (is_cut_ || count > bytes_.size() - at_) {
      is_cut_ = true;
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, static_cast<size_t>(count));
    at_ += taken.size();
    return taken;
  }

  std::string_view line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) {
      is_cut_ = true;
      return {};
    }
    const std::string_view taken = take(end - at_);
    take(1);
    return taken;
  }

  uint64_t number(size_t count) {
    uint64_t result = 0;
    size_t shift = 0;
    for (const char byte : take(count)) {
      result |= uint64_t{static_cast<uint8_t>(byte)} << shift;
      shift += 8;
    }
    return result;
  }

  bool push(Ref value) {
    if (!is_cut_) stack_.push_back(std::move(value));
    return true;
  }
  bool push_other() { return push(value_of(ValueKind::kOther)); }
  bool push_string(std::string_view text) { return push(value_of(ValueKind::kString, std::string(text))); }

  // True if the top of the stack has as many values for an operation, none of them a mark.
  bool has(size_t count) const {
    return stack_.size() >= count && std::none_of(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end(),
                                                  [](const Ref& value) { return value->kind == ValueKind::kMark; });
  }

  bool replace(size_t count, Ref value) {
    stack_.resize(stack_.size() - count);
    return push(std::move(value));
  }

  // Moves the values above the last mark to `values`, and removes the mark. False if there is no mark.
  bool pop_to_mark(std::vector<Ref>& values) {
    const auto is_mark = [](const Ref& value) { return value->kind == ValueKind::kMark; };
    const auto above = std::find_if(stack_.rbegin(), stack_.rend(), is_mark).base();
    if (above == stack_.begin()) return false;
    values.assign(above, stack_.end());
    stack_.erase(above - 1, stack_.end());
    return true;
  }

  static void set_items(PickledValue& dict, const std::vector<Ref>& items) {
    if (dict.kind != ValueKind::kDict) return;
    for (size_t i = 0; i + 1 < items.size(); i += 2) set_item(dict, *items[i], *items[i + 1]);
  }

  bool set_items() {
    std::vector<Ref> items;
    if (!pop_to_mark(items) || stack_.empty()) return false;
    set_items(*stack_.back(), items);
    return true;
  }

  // Ends the dicts that are open, one within another, when the bytes end.
  void close_all() {
    for (std::vector<Ref> items; pop_to_mark(items);) {
      if (!stack_.empty()) set_items(*stack_.back(), items);
    }
  }

  bool reduce() {
    if (!has(2)) return false;
    return replace(2, called(*stack_[stack_.size() - 2]));
  }

  bool new_object(size_t arguments) {
    if (!has(arguments + 1)) return false;
    const PickledValue& type = *stack_[stack_.size() - arguments - 1];
    return replace(arguments + 1, value_of(ValueKind::kObject, type.kind == ValueKind::kClass ? type.text : ""));
  }

  bool name_class() {
    const std::string place(line());
    return push(value_of(ValueKind::kClass, place + "." + std::string(line())));
  }

  bool name_class_on_stack() {
    if (!has(2)) return false;
    const Ref place = stack_[stack_.size() - 2], name = stack_.back();
    return replace(2, value_of(ValueKind::kClass, place->text + "." + name->text));
  }

  bool make_tuple(size_t count) {
    if (!has(count)) return false;
    return replace(count, tuple_of({stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end()}));
  }

  bool collect(ValueKind kind) {
    std::vector<Ref> values;
    return pop_to_mark(values) && push(value_of(kind));
  }

  bool collect_tuple() {
    std::vector<Ref> values;
    return pop_to_mark(values) && push(tuple_of(values));
  }

  bool collect_dict() {
    std::vector<Ref> items;
    if (!pop_to_mark(items)) return false;
    const Ref dict = value_of(ValueKind::kDict);
    set_items(*dict, items);
    return push(dict);
  }

  bool make_object() {
    std::vector<Ref> values;
    if (!pop_to_mark(values) || values.empty()) return false;
    return push(value_of(ValueKind::kObject, values[0]->text));
  }

  bool drop(size_t count) {
    if (!has(count)) return false;
    stack_.resize(stack_.size() - count);
    return true;
  }

  bool keep(uint64_t number) {
    if (is_cut_) return true;
    if (!has(1)) return false;
    memo_[number] = stack_.back();
    return true;
  }

  bool recall(uint64_t number) {
    if (is_cut_) return true;
    const auto found = memo_.find(number);
    return found != memo_.end() && push(found->second);
  }

  static uint64_t decimal(std::string_view text) {
    uint64_t result = 0;
    for (const char digit : text) result = result * 10 + static_cast<uint64_t>(digit - '0');
    return result;
  }

  bool skip(uint64_t count) {
    take(count);
    return push_other();
  }

  bool step(char opcode) {
    switch (opcode) {
      case '\x80':  // PROTO
        take(1);
        return true;
      case '\x95':  // FRAME
        take(8);
        return true;
      case '.':  // STOP
        is_done_ = true;
        return has(1);
      case '(':  // MARK
        return push(value_of(ValueKind::kMark));
      case '0':  // POP
        if (stack_.empty()) return false;
        stack_.pop_back();
        return true;
      case '1': {  // POP_MARK
        std::vector<Ref> ignored;
        return pop_to_mark(ignored);
      }
      case '2':  // DUP
        return has(1) && push(stack_.back());
      default:
        return step_number(opcode);
    }
  }

  bool step_number(char opcode) {
    switch (opcode) {
      case 'N':     // NONE
      case '\x88':  // NEWTRUE
      case '\x89':  // NEWFALSE
      case '\x97':  // NEXT_BUFFER
        return push_other();
      case 'K':  // BININT1
        return skip(1);
      case 'M':  // BININT2
        return skip(2);
      case 'J':  // BININT
        return skip(4);
      case 'G':  // BINFLOAT
        return skip(8);
      case '\x8a':  // LONG1
        return skip(number(1));
      case '\x8b':  // LONG4
        return skip(number(4));
      case 'I':  // INT
      case 'L':  // LONG
      case 'F':  // FLOAT
      case 'P':  // PERSID
        line();
        return push_other();
      case '\x82':  // EXT1, EXT2, EXT4: the registry of extensions isn't ours
        return skip(1);
      case '\x83':
        return skip(2);
      case '\x84':
        return skip(4);
      default:
        return step_text(opcode);
    }
  }

  bool step_text(char opcode) {
    switch (opcode) {
      case 'X':  // BINUNICODE, BINSTRING
      case 'T':
        return push_string(take(number(4)));
      case '\x8c':  // SHORT_BINUNICODE, SHORT_BINSTRING
      case 'U':
        return push_string(take(number(1)));
      case '\x8d':  // BINUNICODE8
        return push_string(take(number(8)));
      case 'V':  // UNICODE, STRING
      case 'S':
        return push_string(line());
      case 'C':  // SHORT_BINBYTES
        return skip(number(1));
      case 'B':  // BINBYTES
        return skip(number(4));
      case '\x8e':  // BINBYTES8, BYTEARRAY8
      case '\x96':
        return skip(number(8));
      case 'p':  // PUT
        return keep(decimal(line()));
      case 'q':  // BINPUT
        return keep(number(1));
      case 'r':  // LONG_BINPUT
        return keep(number(4));
      case '\x94':  // MEMOIZE
        return keep(memo_.size());
      case 'g':  // GET
        return recall(decimal(line()));
      case 'h':  // BINGET
        return recall(number(1));
      case 'j':  // LONG_BINGET
        return recall(number(4));
      default:
        return step_container(opcode);
    }
  }

  bool step_container(char opcode) {
    switch (opcode) {
      case '}':  // EMPTY_DICT
        return push(value_of(ValueKind::kDict));
      case ')':  // EMPTY_TUPLE, EMPTY_LIST, EMPTY_SET
      case ']':
      case '\x8f':
        return push_other();
      case 'd':  // DICT
        return collect_dict();
      case 'l':  // LIST, FROZENSET
      case '\x91':
        return collect(ValueKind::kOther);
      case 't':  // TUPLE
        return collect_tuple();
      case '\x85':  // TUPLE1, TUPLE2, TUPLE3
        return make_tuple(1);
      case '\x86':
        return make_tuple(2);
      case '\x87':
        return make_tuple(3);
      case 'a':  // APPEND
        return drop(1);
      case 'e':  // APPENDS, ADDITEMS
      case '\x90': {
        std::vector<Ref> ignored;
        return pop_to_mark(ignored);
      }
      case 's': {  // SETITEM
        if (!has(3)) return false;
        PickledValue& dict = *stack_[stack_.size() - 3];
        if (dict.kind == ValueKind::kDict) set_item(dict, *stack_[stack_.size() - 2], *stack_.back());
        return drop(2);
      }
      case 'u':  // SETITEMS
        return set_items();
      default:
        return step_object(opcode);
    }
  }

  bool step_object(char opcode) {
    switch (opcode) {
      case 'c':  // GLOBAL
        return name_class();
      case '\x93':  // STACK_GLOBAL
        return name_class_on_stack();
      case 'R':  // REDUCE
        return reduce();
      case '\x81':  // NEWOBJ
        return new_object(1);
      case '\x92':  // NEWOBJ_EX
        return new_object(2);
      case 'b':  // BUILD
        return drop(1);
      case 'o':  // OBJ
        return make_object();
      case 'i': {  // INST
        name_class();
        if (is_cut_) return true;
        const Ref type = stack_.back();
        stack_.pop_back();
        std::vector<Ref> ignored;
        return pop_to_mark(ignored) && push(value_of(ValueKind::kObject, type->text));
      }
      case 'Q':  // BINPERSID: a class stays one
        return has(1) &&
               replace(1, stack_.back()->kind == ValueKind::kClass ? stack_.back() : value_of(ValueKind::kOther));
      case '\x98':  // READONLY_BUFFER
        return has(1);
      default:
        return false;
    }
  }

  std::string_view bytes_;
  size_t at_;
  bool is_cut_ = false, is_done_ = false;
  std::vector<Ref> stack_;
  std::unordered_map<uint64_t, Ref> memo_;
};

}  // namespace

std::optional<PickleOutline> pickle_outline(std::string_view bytes, size_t& begin) {
  if (begin > bytes.size()) return std::nullopt;
  Machine machine(bytes, begin);
  if (!machine.run()) return std::nullopt;
  begin = machine.position();
  const PickledValue& top = machine.top();
  PickleOutline outline;
  if (top.kind == ValueKind::kDict) outline.kind = PickleOutline::Kind::kDict;
  if (top.kind == ValueKind::kTensor) outline.kind = PickleOutline::Kind::kTensor;
  if (top.kind == ValueKind::kObject) {
    outline.kind = PickleOutline::Kind::kObject;
    outline.class_name = top.text;
  }
  outline.keys = top.keys;
  outline.tensors = top.tensors;
  outline.weights_key = top.weights_key;
  return outline;
}

}  // namespace nnapi_convert
