// SPDX-License-Identifier: BSD-3-Clause
// Writes a flatbuffer: a tree of tables, with large data behind it that the caller writes from wherever they are.
//
// The format (flatbuffers.dev/internals): little-endian; a table begins with the distance to its vtable, which tells
// for each field where it lies in the table; an offset counts from its own place forward. So parents are written before
// their children, and the large data come last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace nnapi_convert::litert {

// A table before it is written: its fields by their ids. Numbers at their default value are left out.
class Table {
 public:
  template <typename Number>
  void set(int id, Number value, Number default_value = 0) {
    static_assert(std::is_arithmetic_v<Number>);
    if (value == default_value) return;
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    fields_.push_back({id, sizeof value, bits, {}});
  }
  // Returns whether the field was set to another value than its default.
  bool has(int id) const;
  void set_text(int id, const std::string& text) { set_child(id, Vector{1, text.size(), text + '\0'}); }
  template <typename Number>
  void set_numbers(int id, const std::vector<Number>& numbers) {
    std::string bytes(numbers.size() * sizeof(Number), '\0');
    if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
    set_child(id, Vector{sizeof(Number), numbers.size(), bytes});
  }
  void set_table(int id, Table table) { set_child(id, std::vector<Table>{std::move(table)}, true); }
  void set_tables(int id, std::vector<Table> tables) { set_child(id, std::move(tables)); }
  // Sets a vector of bytes that lies behind all tables: the data with this number in lay_out().
  void set_data(int id, size_t number) { set_child(id, Data{number}); }

 private:
  friend class FlatbufferWriter;
  struct Vector {
    size_t element_size, count;
    std::string bytes;
  };
  struct Data {
    size_t number;
  };
  using Child = std::variant<std::monostate, Vector, std::vector<Table>, Data>;
  struct Field {
    int id;
    size_t size;
    uint64_t bits;
    Child child;
    bool is_table = false;  // the child is its only element itself, not a vector
  };
  void set_child(int id, Child child, bool is_table = false) {
    fields_.push_back({id, sizeof(uint32_t), 0, std::move(child), is_table});
  }

  std::vector<Field> fields_;
};

// The layout of a file. It consists of `head`, then for each of the data: zeros up to 4 bytes before its beginning, its
// size as 32 bits, the data.
struct FileLayout {
  std::string head;
  std::vector<uint64_t> data_begin;  // multiples of 16
  uint64_t bytes = 0;
};

// Lays out a file whose root is `root`, with a four-letter identifier. `data_sizes` are the sizes of the data that
// tables refer to by set_data(). A file past 4 GB has wrong offsets: the caller has to ask for its size first.
FileLayout lay_out(const Table& root, const std::string& identifier, const std::vector<uint64_t>& data_sizes);

}  // namespace nnapi_convert::litert
