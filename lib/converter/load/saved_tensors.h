// SPDX-License-Identifier: BSD-3-Clause
// Tensors in an archive: records that are mapped from the file, and what torch.save pickled.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <map>
#include <string>

#include "lib/base/source_check.h"
#include "lib/converter/load/archive_file.h"
#include "lib/converter/load/tensor_meta.h"

namespace nnapi_convert {

// Returns the record's bytes as a storage: mapped from the file where it is large and aligned, and then checked by
// `checks` (null: not at all); else read and checked. Throws as checked_bytes().
c10::Storage storage_of(const ArchiveFile& archive, const nnapi_shim::ZipRecord& record, SourceChecks* checks);

// Returns the tensor that the storage has there. Throws ConvertError (kBadFile) where it lies outside.
at::Tensor tensor_in(const c10::Storage& storage, c10::ScalarType dtype, const std::vector<int64_t>& sizes,
                     const std::vector<int64_t>& strides, int64_t offset, const std::string& name);
at::Tensor tensor_in(const c10::Storage& storage, const TensorMeta& meta, const std::string& name);

// Reads the value that torch.save wrote as a record of `archive`: tensors, numbers, strings, and tuples, lists and
// dicts of them. Throws ConvertError for anything else (kNotConvertible) and for damaged records (kBadFile). Mapped
// storages are checked by `checks`; null: not at all.
c10::IValue load_saved(const ArchiveFile& archive, const std::string& path, const nnapi_shim::ZipRecord& record,
                       SourceChecks* checks);

// Reads the value that torch.save wrote as a file by itself.
c10::IValue load_saved(const std::string& path);

// Returns a record's bytes, unpacked and checked. Throws DamagedFile, or ConvertError (kBadFile) for what isn't read;
// both name the record.
std::string checked_bytes(const ArchiveFile& archive, const nnapi_shim::ZipRecord& record);

}  // namespace nnapi_convert
