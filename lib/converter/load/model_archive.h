// SPDX-License-Identifier: BSD-3-Clause
// An archive of PyTorch that is open for reading.
#pragma once

#include <caffe2/serialize/inline_container.h>

#include <map>
#include <memory>
#include <string>

#include "lib/base/source_check.h"
#include "lib/converter/load/archive_file.h"

namespace nnapi_convert {

class ModelArchive {
 public:
  // Throws c10::Error if LibTorch's reader refuses the file.
  explicit ModelArchive(const std::string& path);

  const std::string& path() const { return path_; }
  const ArchiveFile& file() const { return file_; }
  caffe2::serialize::PyTorchStreamReader& reader() { return reader_; }
  // Records by their names without the archive's root folder. Entries beside that folder are left out: LibTorch reads
  // none.
  const std::map<std::string, nnapi_shim::ZipRecord>& records() const { return records_; }
  bool has(const std::string& record) const { return records_.count(record) != 0; }
  // Takes the checks of weights that are mapped; null if all weights were checked before.
  SourceChecks* checks() const { return checks_.get(); }
  std::shared_ptr<SourceChecks> check_weights_later();
  // Returns a record's bytes, unpacked. The archive keeps them, so that they are unpacked once, up to kMostKeptBytes of
  // all records: a small archive may unpack to a thousand times its size. Throws c10::Error if there is no such record.
  std::shared_ptr<const std::string> content(const std::string& record);

  static constexpr size_t kMostKeptBytes = size_t{32} << 20;

 private:
  std::string path_;
  ArchiveFile file_;
  caffe2::serialize::PyTorchStreamReader reader_;
  std::map<std::string, nnapi_shim::ZipRecord> records_;
  std::map<std::string, std::shared_ptr<const std::string>> contents_;
  size_t kept_bytes_ = 0;
  std::shared_ptr<SourceChecks> checks_;
};

}  // namespace nnapi_convert
