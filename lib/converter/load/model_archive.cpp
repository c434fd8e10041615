// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/model_archive.h"

#include <tuple>

namespace nnapi_convert {
namespace {

// Returns the records by their names within the root folder, which is the first entry's.
std::map<std::string, nnapi_shim::ZipRecord> records_of(const ArchiveFile& file) {
  std::map<std::string, nnapi_shim::ZipRecord> records;
  if (file.records().empty()) return records;
  const std::string& first = file.records()[0].name;
  const std::string root = first.substr(0, first.find('/') + 1);
  for (const nnapi_shim::ZipRecord& record : file.records()) {
    if (record.name.rfind(root, 0) == 0) records[record.name.substr(root.size())] = record;
  }
  return records;
}

}  // namespace

ModelArchive::ModelArchive(const std::string& path)
    : path_(path), file_(path), reader_(path), records_(records_of(file_)) {}

std::shared_ptr<SourceChecks> ModelArchive::check_weights_later() {
  checks_ = std::make_shared<SourceChecks>(file_.file().fd);
  return checks_;
}

std::shared_ptr<const std::string> ModelArchive::content(const std::string& record) {
  const auto kept = contents_.find(record);
  if (kept != contents_.end()) return kept->second;
  const auto [data, size] = reader_.getRecord(record);
  const auto content = std::make_shared<const std::string>(static_cast<const char*>(data.get()), size);
  if (size > kMostKeptBytes - kept_bytes_) return content;
  kept_bytes_ += size;
  contents_[record] = content;
  return content;
}

}  // namespace nnapi_convert
