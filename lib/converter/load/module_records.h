// SPDX-License-Identifier: BSD-3-Clause
// The records that PyTorch writes for a module, one by one.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/folder.h"
#include "lib/serialize/zip_writer.h"
#include "lib/shim/zip_directory.h"

namespace nnapi_convert {

// PyTorch's serialiser writes archives only. This class lets it write one into a file without a name, and gives its
// records.
class ModuleRecords {
 public:
  struct Record {
    std::string name;  // without the archive's root folder
    ZipContent content;
    uint64_t begin;  // of the stored bytes in the file
  };

  // Serialises the module into a file in `folder`; with `is_lite` for the lite interpreter, too. The files are
  // compressed records before the last one, which tells the format's version. Throws ConvertError (kBadFile).
  ModuleRecords(const torch::jit::Module& module, bool is_lite, const std::vector<FolderFile>& files,
                const std::filesystem::path& folder);

  // Returns the records in the archive's order.
  const std::vector<Record>& records() const { return records_; }
  // Returns a record's bytes, inflated. Throws ConvertError (kBadFile).
  std::string content(const Record& record) const;
  // Writes a record's stored bytes. Throws ConvertError (kBadFile).
  void write(const Record& record, const nnapi::ByteSink& sink) const;

 private:
  struct OwnFile : nnapi_shim::ZipFile {
    OwnFile() = default;
    ~OwnFile();
    OwnFile(const OwnFile&) = delete;
    OwnFile& operator=(const OwnFile&) = delete;
  };

  void read_directory();

  OwnFile file_;
  std::vector<Record> records_;
};

}  // namespace nnapi_convert
