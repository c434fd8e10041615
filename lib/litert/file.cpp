// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/file.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lib/litert/stored_archive.h"

namespace nnapi_convert::litert {
namespace {

constexpr size_t kAlignment = 16;
constexpr int kRuntimeTextBytes = 16;

using OperatorCode = std::pair<Builtin, int32_t>;  // with its version

std::vector<OperatorCode> operator_codes(const File& file) {
  std::vector<OperatorCode> codes;
  for (const Subgraph& subgraph : file.subgraphs) {
    for (const Operator& each : subgraph.operators) {
      const OperatorCode code{each.code, each.version};
      if (std::find(codes.begin(), codes.end(), code) == codes.end()) codes.push_back(code);
    }
  }
  return codes;
}

Table table_of(const OperatorCode& code) {
  constexpr int32_t kLastOldCode = 127;
  const auto number = static_cast<int32_t>(code.first);
  Table table;
  table.set(0, static_cast<int8_t>(std::min(number, kLastOldCode)));
  table.set(2, code.second, 1);
  table.set(3, number);
  return table;
}

Table table_of(const Tensor& tensor) {
  Table table;
  table.set_numbers(0, tensor.shape);
  table.set(1, static_cast<int8_t>(tensor.type));
  table.set(2, static_cast<uint32_t>(tensor.buffer));
  table.set_text(3, tensor.name);
  if (tensor.is_quantised()) {
    Table quantisation;
    quantisation.set_numbers(2, tensor.scales);
    quantisation.set_numbers(3, tensor.zero_points);
    quantisation.set(6, tensor.channel_axis);
    table.set_table(4, std::move(quantisation));
  }
  if (!tensor.signature.empty()) table.set_numbers(7, tensor.signature);
  table.set(8, true, false);  // has_rank
  return table;
}

Table table_of(const Operator& each, const std::vector<OperatorCode>& codes) {
  const auto code = std::find(codes.begin(), codes.end(), OperatorCode{each.code, each.version});
  Table table;
  table.set(0, static_cast<uint32_t>(code - codes.begin()));
  table.set_numbers(1, each.inputs);
  table.set_numbers(2, each.outputs);
  if (each.options_type != Options::NONE) {
    table.set(3, static_cast<uint8_t>(each.options_type));
    table.set_table(4, each.options);
  }
  return table;
}

Table table_of(const Subgraph& subgraph, const std::vector<OperatorCode>& codes) {
  std::vector<Table> tensors, operators;
  for (const Tensor& tensor : subgraph.tensors) tensors.push_back(table_of(tensor));
  for (const Operator& each : subgraph.operators) operators.push_back(table_of(each, codes));
  Table table;
  table.set_tables(0, std::move(tensors));
  table.set_numbers(1, subgraph.inputs);
  table.set_numbers(2, subgraph.outputs);
  table.set_tables(3, std::move(operators));
  table.set_text(4, subgraph.name);
  return table;
}

std::vector<Table> name_tables(const std::vector<std::string>& names, const std::vector<int32_t>& tensors) {
  std::vector<Table> tables;
  for (size_t i = 0; i < names.size(); ++i) {
    Table table;
    table.set_text(0, names[i]);
    table.set(1, static_cast<uint32_t>(tensors[i]));
    tables.push_back(std::move(table));
  }
  return tables;
}

Table table_of(const Signature& signature, const Subgraph& subgraph) {
  Table table;
  table.set_tables(0, name_tables(signature.inputs, subgraph.inputs));
  table.set_tables(1, name_tables(signature.outputs, subgraph.outputs));
  table.set_text(2, signature.key);
  table.set(4, static_cast<uint32_t>(signature.subgraph));
  return table;
}

// The place of a buffer's data in a file past 2 GB, counted from the file's beginning.
struct DataPlace {
  uint64_t begin = 0, bytes = 0;
};

// Returns the file's root table. `places` is empty if the data lie within the flatbuffer.
Table root_of(const File& file, const std::vector<Buffer>& buffers, const std::vector<DataPlace>& places) {
  const std::vector<OperatorCode> codes = operator_codes(file);
  std::vector<Table> code_tables, subgraphs, buffer_tables, signatures;
  for (const OperatorCode& code : codes) code_tables.push_back(table_of(code));
  for (const Subgraph& subgraph : file.subgraphs) subgraphs.push_back(table_of(subgraph, codes));
  buffer_tables.emplace_back();
  for (size_t i = 1; i < buffers.size(); ++i) {
    Table table;
    if (places.empty()) {
      table.set_data(0, i - 1);
    } else {
      table.set(1, places[i - 1].begin);
      table.set(2, places[i - 1].bytes);
    }
    buffer_tables.push_back(std::move(table));
  }
  for (const Signature& each : file.signatures) signatures.push_back(table_of(each, file.subgraphs[each.subgraph]));
  std::vector<Table> metadata;  // their texts are in the last buffers
  for (size_t i = 0; i <= file.metadata.size(); ++i) {
    Table entry;
    entry.set_text(0, i == 0 ? "min_runtime_version" : file.metadata[i - 1].first);
    entry.set(1, static_cast<uint32_t>(buffers.size() - 1 - file.metadata.size() + i));
    metadata.push_back(std::move(entry));
  }
  Table root;
  root.set(0, kSchemaVersion);
  root.set_tables(1, std::move(code_tables));
  root.set_tables(2, std::move(subgraphs));
  root.set_text(3, file.description);
  root.set_tables(4, std::move(buffer_tables));
  root.set_tables(6, std::move(metadata));
  root.set_tables(7, std::move(signatures));
  return root;
}

std::vector<uint64_t> sizes_of(const std::vector<Buffer>& buffers) {
  std::vector<uint64_t> sizes;
  for (size_t i = 1; i < buffers.size(); ++i) sizes.push_back(buffers[i].byte_count());
  return sizes;
}

// Returns the places of data of these sizes behind a flatbuffer of `flatbuffer_bytes` bytes.
std::vector<DataPlace> places_behind(uint64_t flatbuffer_bytes, const std::vector<uint64_t>& sizes) {
  std::vector<DataPlace> places;
  uint64_t end = flatbuffer_bytes;
  for (const uint64_t size : sizes) {
    const uint64_t begin = (end + kAlignment - 1) / kAlignment * kAlignment;
    places.push_back({begin, size});
    end = begin + size;
  }
  return places;
}

// Hands bytes on to a sink, and counts them.
class CountingSink {
 public:
  explicit CountingSink(const nnapi::ByteSink& sink) : sink_(sink) {}
  void put(const void* bytes, size_t size) {
    if (size > 0) sink_(bytes, size);
    count_ += size;
  }
  void zeros_up_to(uint64_t end) {
    const std::string zeros(end - count_, '\0');
    put(zeros.data(), zeros.size());
  }
  void put(const Buffer& buffer) {
    buffer.write_to([this](const void* bytes, size_t size) { put(bytes, size); });
  }
  uint64_t count() const { return count_; }

 private:
  const nnapi::ByteSink& sink_;
  uint64_t count_ = 0;
};

// Appends `file.files` as an uncompressed zip archive, in which readers of TFLite's metadata look for them. Leaves an
// archive out that would begin past 2 GB: zip's plain form has offsets of 32 bits. Returns the bytes written in all.
uint64_t write_archive(const File& file, CountingSink& out) {
  if (file.files.empty() || out.count() > UINT32_MAX / 2) return out.count();
  out.zeros_up_to((out.count() + 3) / 4 * 4);
  const std::string archive = stored_archive(file.files, static_cast<uint32_t>(out.count()));
  out.put(archive.data(), archive.size());
  return out.count();
}

uint64_t write_behind(const File& file, const std::vector<Buffer>& buffers, const nnapi::ByteSink& sink) {
  const std::vector<uint64_t> sizes = sizes_of(buffers);
  // Places are numbers of fixed size, so the flatbuffer's size doesn't depend on them.
  const size_t head_bytes =
      lay_out(root_of(file, buffers, places_behind(kAlignment, sizes)), kIdentifier, {}).head.size();
  const std::vector<DataPlace> places = places_behind(head_bytes, sizes);
  const FileLayout layout = lay_out(root_of(file, buffers, places), kIdentifier, {});
  CountingSink out(sink);
  out.put(layout.head.data(), layout.head.size());
  for (size_t i = 0; i < places.size(); ++i) {
    out.zeros_up_to(places[i].begin);
    out.put(buffers[i + 1]);
  }
  return write_archive(file, out);
}

}  // namespace

uint64_t Buffer::byte_count() const {
  uint64_t count = bytes.size();
  for (const nnapi::Constant& part : parts) count += part.byte_count();
  return count;
}

void Buffer::write_to(const nnapi::ByteSink& sink) const {
  if (!bytes.empty()) sink(bytes.data(), bytes.size());
  const nnapi::ByteSink changed = [this, &sink](const void* data, size_t size) {
    constexpr uint8_t kSignBit = 0x80, kLowest = 0x80;  // kLowest is -128 as int8
    std::vector<uint8_t> numbers(static_cast<const uint8_t*>(data), static_cast<const uint8_t*>(data) + size);
    for (uint8_t& each : numbers) {
      if (shifts_sign) each ^= kSignBit;
      if (is_symmetric && each == kLowest) ++each;
    }
    sink(numbers.data(), numbers.size());
  };
  for (const nnapi::Constant& part : parts) part.write_to(shifts_sign || is_symmetric ? changed : sink);
}

uint64_t write_file(const File& file, const nnapi::ByteSink& sink, uint64_t most_flatbuffer_bytes) {
  std::vector<Buffer> buffers = file.buffers;
  buffers.emplace_back();
  buffers.back().bytes = least_runtime(file);
  buffers.back().bytes.resize(kRuntimeTextBytes);
  for (const auto& [name, text] : file.metadata) {
    buffers.emplace_back();
    buffers.back().bytes = text;
  }
  const std::vector<uint64_t> sizes = sizes_of(buffers);
  const FileLayout layout = lay_out(root_of(file, buffers, {}), kIdentifier, sizes);
  if (layout.bytes > most_flatbuffer_bytes) return write_behind(file, buffers, sink);
  CountingSink out(sink);
  out.put(layout.head.data(), layout.head.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto size = static_cast<uint32_t>(sizes[i]);
    out.zeros_up_to(layout.data_begin[i] - sizeof size);
    out.put(&size, sizeof size);
    out.put(buffers[i + 1]);
  }
  return write_archive(file, out);
}

}  // namespace nnapi_convert::litert
