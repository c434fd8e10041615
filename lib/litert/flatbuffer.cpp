// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/flatbuffer.h"

#include <algorithm>
#include <map>

namespace nnapi_convert::litert {

namespace {

constexpr size_t kOffsetBytes = 4, kDataAlignment = 16;

uint64_t rounded_up_to(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

bool Table::has(int id) const {
  return std::any_of(fields_.begin(), fields_.end(), [id](const Field& field) { return field.id == id; });
}

class FlatbufferWriter {
 public:
  explicit FlatbufferWriter(size_t data_count) : data_places_(data_count) {}

  FileLayout write(const Table& root, const std::string& identifier, const std::vector<uint64_t>& data_sizes) {
    bytes_.assign(kOffsetBytes, '\0');
    bytes_ += identifier;
    patch(0, write_table(root));
    FileLayout layout;
    uint64_t end = bytes_.size();
    for (size_t i = 0; i < data_sizes.size(); ++i) {
      const uint64_t begin = rounded_up_to(end + kOffsetBytes, kDataAlignment);
      for (const size_t place : data_places_[i]) patch(place, begin - kOffsetBytes);
      layout.data_begin.push_back(begin);
      end = begin + data_sizes[i];
    }
    layout.head = std::move(bytes_);
    layout.bytes = end;
    return layout;
  }

 private:
  template <typename Number>
  void put(Number number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }

  void align(size_t alignment, size_t after = 0) {
    while ((bytes_.size() + after) % alignment != 0) bytes_ += '\0';
  }

  // Makes the offset at `place` lead to `target`.
  void patch(size_t place, uint64_t target) {
    const auto offset = static_cast<uint32_t>(target - place);
    std::memcpy(&bytes_[place], &offset, sizeof offset);
  }

  // Returns the fields from the largest to the smallest: in this order only the first may need a gap before it.
  static std::vector<const Table::Field*> by_size(const Table& table) {
    std::vector<const Table::Field*> fields;
    for (const Table::Field& field : table.fields_) fields.push_back(&field);
    std::stable_sort(fields.begin(), fields.end(), [](const auto* a, const auto* b) { return a->size > b->size; });
    return fields;
  }

  // Equal vtables are written once.
  size_t write_vtable(const std::vector<uint16_t>& vtable) {
    const auto [known, is_new] = vtables_.try_emplace(vtable, 0);
    if (!is_new) return known->second;
    align(sizeof(uint16_t));
    known->second = bytes_.size();
    for (const uint16_t word : vtable) put(word);
    return known->second;
  }

  size_t write_table(const Table& table) {
    const std::vector<const Table::Field*> fields = by_size(table);
    std::vector<uint16_t> vtable(2);
    std::vector<size_t> places;  // within the table
    size_t end = kOffsetBytes, alignment = kOffsetBytes;
    for (const Table::Field* field : fields) {
      alignment = std::max(alignment, field->size);
      end = rounded_up_to(end, field->size);
      const auto slot = static_cast<size_t>(field->id) + 2;
      if (vtable.size() <= slot) vtable.resize(slot + 1);
      vtable[slot] = static_cast<uint16_t>(end);
      places.push_back(end);
      end += field->size;
    }
    vtable[0] = static_cast<uint16_t>(vtable.size() * sizeof(uint16_t));
    vtable[1] = static_cast<uint16_t>(end);
    const size_t vtable_begin = write_vtable(vtable);
    align(alignment);
    const size_t begin = bytes_.size();
    bytes_.resize(begin + end);
    const auto to_vtable = static_cast<int32_t>(static_cast<int64_t>(begin) - static_cast<int64_t>(vtable_begin));
    std::memcpy(&bytes_[begin], &to_vtable, sizeof to_vtable);
    for (size_t i = 0; i < fields.size(); ++i) {
      std::memcpy(&bytes_[begin + places[i]], &fields[i]->bits, fields[i]->size);
    }
    for (size_t i = 0; i < fields.size(); ++i) write_child(*fields[i], begin + places[i]);
    return begin;
  }

  void write_child(const Table::Field& field, size_t place) {
    if (const auto* vector = std::get_if<Table::Vector>(&field.child)) {
      align(std::max(vector->element_size, kOffsetBytes), kOffsetBytes);
      patch(place, bytes_.size());
      put(static_cast<uint32_t>(vector->count));
      bytes_ += vector->bytes;
    } else if (const auto* tables = std::get_if<std::vector<Table>>(&field.child)) {
      if (field.is_table) return patch(place, write_table(tables->front()));
      align(kOffsetBytes);
      patch(place, bytes_.size());
      put(static_cast<uint32_t>(tables->size()));
      size_t element = bytes_.size();
      bytes_.resize(element + tables->size() * kOffsetBytes);
      for (const Table& table : *tables) {
        patch(element, write_table(table));
        element += kOffsetBytes;
      }
    } else if (const auto* data = std::get_if<Table::Data>(&field.child)) {
      data_places_[data->number].push_back(place);
    }
  }

  std::string bytes_;
  std::map<std::vector<uint16_t>, size_t> vtables_;
  std::vector<std::vector<size_t>> data_places_;  // positions of the offsets to each of the data
};

FileLayout lay_out(const Table& root, const std::string& identifier, const std::vector<uint64_t>& data_sizes) {
  return FlatbufferWriter(data_sizes.size()).write(root, identifier, data_sizes);
}

}  // namespace nnapi_convert::litert
