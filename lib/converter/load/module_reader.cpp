// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/module_reader.h"

#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/import_read.h>
#include <torch/csrc/jit/serialization/import_source.h>
#include <torch/csrc/jit/serialization/storage_context.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "lib/converter/graph/upgraders.h"
#include "lib/converter/load/object_state.h"
#include "lib/converter/load/source_lines.h"
#include "lib/types/mapped_memory.h"

namespace nnapi_convert {
namespace {

using torch::jit::DeserializationStorageContext;
using torch::jit::Source;

// Returns the records of a folder that can be mapped, as storages by their names there. LibTorch reads the others
// itself.
std::shared_ptr<DeserializationStorageContext> mapped_storages(const ModelArchive& archive, const std::string& folder) {
  auto storages = std::make_shared<DeserializationStorageContext>();
  for (auto it = archive.records().lower_bound(folder); it != archive.records().end(); ++it) {
    const auto& [name, record] = *it;
    if (name.rfind(folder, 0) != 0) break;
    if (record.bytes < kLeastMappedBytes) continue;
    const std::optional<uint64_t> begin = archive.file().data_begin(record);
    if (!begin || !can_map(*begin, record.bytes)) continue;
    const int file = archive.file().file().fd;
    const bool is_unchecked = archive.checks() != nullptr && ArchiveFile::has_checksum(record);
    at::DataPtr memory = is_unchecked ? map_unchecked(file, *begin, record.bytes, record.checksum,
                                                      archive.file().checksum_problem(record), *archive.checks())
                                      : map_memory(file, *begin, record.bytes);
    if (!memory) continue;
    storages->addStorage(name.substr(folder.size()), c10::Storage(c10::Storage::use_byte_size_t(), record.bytes,
                                                                  std::move(memory), nullptr, false));
  }
  return storages;
}

class ModuleReader {
 public:
  explicit ModuleReader(ModelArchive& archive)
      : archive_(archive),
        importer_(
            unit_, &constants_, [&](const std::string& qualifier) { return source_of(qualifier); },
            archive.reader().version()) {}

  torch::jit::Module read() {
    const c10::IValue constants = read_values("constants");
    for (const c10::IValue& constant : constants.toTupleRef().elements()) constants_.push_back(constant);
    return torch::jit::Module(read_values("data").toObject());
  }

 private:
  // Returns the values of NAME.pkl, whose tensors are the records of the folder NAME.
  c10::IValue read_values(const std::string& name) {
    const auto type_of = [&](const c10::QualifiedName& class_name) {
      return c10::StrongTypePtr(unit_, importer_.loadType(class_name));
    };
    return torch::jit::readArchiveAndTensors(name, "", "", type_of, make_object, at::kCPU, archive_.reader(),
                                             torch::jit::Unpickler::defaultTypeParser,
                                             mapped_storages(archive_, name + "/"));
  }

  // Returns the file with the classes whose names begin with `qualifier`; null if there is none.
  std::shared_ptr<Source> source_of(std::string qualifier) {
    std::replace(qualifier.begin(), qualifier.end(), '.', '/');
    const std::string path = "code/" + qualifier + ".py", lines = path + ".debug_pkl";
    if (!archive_.has(path)) return nullptr;
    std::shared_ptr<torch::jit::SourceRangeUnpickler> origin;
    if (archive_.has(lines)) origin = std::make_shared<SourceLines>(archive_.content(lines));
    return std::make_shared<Source>(*archive_.content(path), path, 1, origin);
  }

  ModelArchive& archive_;
  std::shared_ptr<torch::jit::CompilationUnit> unit_ = std::make_shared<torch::jit::CompilationUnit>();
  std::vector<at::IValue> constants_;
  torch::jit::SourceImporter importer_;
};

}  // namespace

torch::jit::Module read_module(ModelArchive& archive) {
  // The format of PyTorch 1.0 and 1.1.
  if (archive.has("model.json")) return torch::jit::load(archive.path(), at::kCPU);
  torch::jit::populate_upgraders_graph_map();
  return ModuleReader(archive).read();
}

}  // namespace nnapi_convert
