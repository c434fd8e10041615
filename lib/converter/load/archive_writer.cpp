// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/archive_writer.h"

#include <fmt/format.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/pickler.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/output_file.h"
#include "lib/converter/load/module_records.h"
#include "lib/converter/load/source_lines.h"
#include "lib/format/buffer_format_v2.h"
#include "lib/serialize/metadata.h"
#include "lib/serialize/shim_index.h"
#include "lib/serialize/zip_writer.h"

namespace nnapi_convert {
namespace {

constexpr const char* kTensorFolder = "data/";
constexpr const char* kConstantFolder = "constants/";
constexpr const char* kStateRecord = "data.pkl";
constexpr const char* kPaddingRecord = "extra/nnapi_shim.padding";

// A module's state as PyTorch pickles it. The tensor number N is the record data/N.
struct PickledState {
  std::string bytes;
  std::vector<at::Tensor> tensors;
};

PickledState pickle_state(const torch::jit::Module& module) {
  PickledState state;
  torch::jit::TypeNameUniquer names;  // names classes as ScriptModuleSerializer does, which pickles the state first
  torch::jit::Pickler pickler([&](const char* begin, size_t size) { state.bytes.append(begin, size); }, nullptr,
                              [&](const c10::ClassTypePtr& type) { return names.getUniqueName(type); }, nullptr);
  pickler.protocol();
  pickler.pushIValue(module._ivalue());
  pickler.stop();
  state.tensors = pickler.tensorData();
  return state;
}

void write_extras(ZipWriter& zip, const ArchiveExtras& extras) {
  if (!extras.metadata.empty()) zip.add(std::string("extra/") + kMetadataFile, extras.metadata);
  if (!extras.shim_index.empty()) zip.add(buffer_format_v2::kIndexRecord, extras.shim_index);
  for (const FolderFile& record : extras.attached) zip.add(record.name, record.text);
  if (extras.program == nullptr) return;
  zip.add(program_format::kRecord, extras.program->bytes,
          [&](const nnapi::ByteSink& sink) { extras.program->write(sink); });
}

std::string record_of(size_t tensor) {
  return fmt::format("{}{}", kTensorFolder, tensor);
}

// Writes padding, so that the weights of the shim's compilation `part` begin on a page. They are the tensor of this
// number; the compilation's words are the next tensor.
void write_padding(ZipWriter& zip, const PickledState& state, size_t tensor, size_t part) {
  NNC_ASSERT(state.tensors.size() > tensor + 1 && state.tensors[tensor].scalar_type() == at::kByte &&
                 state.tensors[tensor + 1].scalar_type() == at::kInt,
             "a module for the shim does not begin with weights and words");
  zip.add_padding(part == 0 ? kPaddingRecord : fmt::format("{}_{}", kPaddingRecord, part), record_of(tensor),
                  state.tensors[tensor].storage().nbytes(), buffer_format_v2::kPageAlignment);
}

// Writes a tensor's storage, as PyTorch does.
void write_tensor(ZipWriter& zip, const std::string& name, const at::Tensor& tensor, const DeferredTensors& late,
                  bool releases) {
  const c10::Storage& storage = tensor.storage();
  if (!late.holds(tensor)) {
    zip.add(name, storage.nbytes(), [&](const nnapi::ByteSink& sink) { sink(storage.data(), storage.nbytes()); });
    return;
  }
  const uint32_t checksum =
      zip.add(name, storage.nbytes(), [&](const nnapi::ByteSink& sink) { late.write(tensor, releases, sink); });
  late.note_written(tensor, checksum);
}

void write_state(ZipWriter& zip, const PickledState& state, const DeferredTensors& late, bool releases,
                 const ArchiveExtras& extras) {
  std::set<std::string> of_shim;
  std::unordered_map<std::string, size_t> first_parts;  // by the record of a compilation's weights
  for (size_t part = 0; part < extras.shim_records.size(); ++part) {
    const ShimRecords& records = extras.shim_records[part];
    of_shim.insert({records.weights, records.words});
    first_parts.emplace(records.weights, part);
  }
  // Without a module, only the tensors of the compilations are written.
  const size_t count = extras.has_module ? state.tensors.size() : of_shim.size();
  for (size_t i = 0; i < count; ++i) {
    const std::string record = record_of(i);
    if (const auto part = first_parts.find(record); part != first_parts.end()) {
      write_padding(zip, state, i, part->second);
    }
    write_tensor(zip, record, state.tensors[i], late, releases);
  }
  if (extras.has_module) zip.add(kStateRecord, state.bytes);
}

bool is_of_state(const std::string& record) {
  return record == kStateRecord || record.rfind(kTensorFolder, 0) == 0;
}

// True for "code/NAME.py.debug_pkl": names and texts of the model's sources. PyTorch reads code without it as well.
bool has_source_lines(const std::string& record) {
  constexpr std::string_view kEnding = ".debug_pkl";
  return record.size() > kEnding.size() && record.compare(record.size() - kEnding.size(), kEnding.size(), kEnding) == 0;
}

// While it lives, the storages of the tensors have no bytes: LibTorch writes them without reading any.
class EmptiedStorages {
 public:
  explicit EmptiedStorages(const std::vector<at::Tensor>& tensors) {
    for (const at::Tensor& tensor : tensors) {
      const c10::Storage& storage = tensor.storage();
      emptied_.emplace(storage.unsafeGetStorageImpl(), storage.nbytes());
      storage.set_nbytes(0);
    }
  }
  ~EmptiedStorages() {
    for (const auto& [storage, bytes] : emptied_) storage->set_nbytes(bytes);
  }
  EmptiedStorages(const EmptiedStorages&) = delete;
  EmptiedStorages& operator=(const EmptiedStorages&) = delete;

 private:
  std::unordered_map<c10::StorageImpl*, size_t> emptied_;
};

// True if a constant of the code is empty: it may have its storage in common with the state.
bool has_empty_constant(const ModuleRecords& records) {
  return std::any_of(records.records().begin(), records.records().end(), [](const ModuleRecords::Record& record) {
    return record.name.rfind(kConstantFolder, 0) == 0 && record.content.bytes == 0;
  });
}

// Returns the records that PyTorch writes for the module. Those of its state are empty: write_state() writes them.
std::unique_ptr<ModuleRecords> records_of(const torch::jit::Module& module, const PickledState& state,
                                          const DeferredTensors& late, const ArchiveExtras& extras,
                                          const std::filesystem::path& path) {
  std::vector<FolderFile> sources = extras.shim_source;
  for (FolderFile& file : sources) file.name.insert(0, kShimSourceFolder);
  const auto records_without = [&](const std::vector<at::Tensor>& tensors) {
    const EmptiedStorages emptied(tensors);
    return std::make_unique<ModuleRecords>(module, path.extension() == ".ptl", sources, path.parent_path());
  };
  std::unique_ptr<ModuleRecords> records = records_without(state.tensors);
  if (!has_empty_constant(*records)) return records;
  std::vector<at::Tensor> late_ones;
  std::copy_if(state.tensors.begin(), state.tensors.end(), std::back_inserter(late_ones),
               [&](const at::Tensor& tensor) { return late.holds(tensor); });
  return records_without(late_ones);
}

// Writes a table of source lines in the form that every release reads.
void write_source_table(ZipWriter& zip, const ModuleRecords::Record& record, const ModuleRecords& records) {
  zip.add_deflated(record.name,
                   SourceLines(std::make_shared<const std::string>(records.content(record))).with_whole_sources());
}

// Returns the bytes of the tensors' storages. Tensors may share a storage.
uint64_t bytes_of(const std::vector<at::Tensor>& tensors) {
  std::unordered_map<const c10::StorageImpl*, uint64_t> sizes;
  for (const at::Tensor& tensor : tensors) {
    sizes[tensor.storage().unsafeGetStorageImpl()] = tensor.storage().nbytes();
  }
  uint64_t bytes = 0;
  for (const auto& [storage, size] : sizes) bytes += size;
  return bytes;
}

void write(const torch::jit::Module& module, DeferredTensors& late, bool releases, const std::filesystem::path& path,
           const ArchiveExtras& extras) {
  const PickledState state = pickle_state(module);
  const auto written = std::count_if(state.tensors.begin(), state.tensors.end(),
                                     [&](const at::Tensor& tensor) { return late.holds(tensor); });
  NNC_ASSERT(static_cast<size_t>(written) == late.size(), "the module does not hold all late tensors");
  std::unique_ptr<const ModuleRecords> others;
  if (extras.has_module) others = records_of(module, state, late, extras, path);
  OutputFile file(path);
  file.reserve(bytes_of(state.tensors));
  ZipWriter zip(path.stem().string(), [&](const void* data, size_t size) { file.append(data, size); });
  write_extras(zip, extras);
  write_state(zip, state, late, releases, extras);
  if (others == nullptr) {
    zip.add("version", "3\n");  // LibTorch's reader of archives asks for it
  } else {
    for (const ModuleRecords::Record& record : others->records()) {
      if (is_of_state(record.name)) continue;
      if (has_source_lines(record.name)) {
        if (extras.keeps_source_lines) write_source_table(zip, record, *others);
        continue;
      }
      zip.add_stored(record.name, record.content, [&](const nnapi::ByteSink& sink) { others->write(record, sink); });
    }
  }
  zip.finish();
  const std::string reason = file.finish();
  if (!reason.empty()) fail_to_write(path.filename(), reason);  // the path is temporary: callers know only the name
}

}  // namespace

void write_module(const torch::jit::Module& module, DeferredTensors& late, const std::string& path,
                  const ArchiveExtras& extras) {
  write(module, late, false, path, extras);
}

void write_and_release_module(const torch::jit::Module& module, DeferredTensors& late, const std::string& path,
                              const ArchiveExtras& extras) {
  write(module, late, true, path, extras);
}

}  // namespace nnapi_convert
