// SPDX-License-Identifier: BSD-3-Clause
// Reads the directory of a zip file: the names and places of its records. Reads plain and ZIP64 files of one volume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// A file that the caller has opened for reading, and closes; or memory.
struct ZipFile {
  int fd = -1;
  const uint8_t* memory = nullptr;  // not null: the archive's bytes, in place of a file
  uint64_t bytes = 0;
  const char* path = "";  // for error sentences
  uint64_t begin = 0;     // the begin of an archive within another file
};

struct ZipRecord {
  std::string name;
  uint64_t offset = 0;  // the offset of its local header
  uint64_t bytes = 0;
  uint64_t stored_bytes = 0;
  uint32_t checksum = 0;  // CRC-32 of the bytes, as the directory says
  uint16_t method = 0;    // 0: stored
  uint16_t flags = 0;
};

// Reads exactly `bytes` bytes from `offset` on. Returns false if the file is shorter or can't be read.
bool read_at(const ZipFile& file, uint64_t offset, void* data, size_t bytes);

// Reads all records. NNAPI_SHIM_BAD_MODEL if the directory is damaged. Takes memory in proportion to the file's size.
int read_zip_directory(const ZipFile& file, std::vector<ZipRecord>* records, nnapi_shim_error* error);

// Finds the offset of the first data byte of a stored record. NNAPI_SHIM_BAD_MODEL if the record is deflated or
// encrypted, contradicts its local header or does not lie within the file.
int find_record_data(const ZipFile& file, const ZipRecord& record, uint64_t* offset, nnapi_shim_error* error);

}  // namespace nnapi_shim
