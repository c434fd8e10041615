// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/cache_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/log.h"

namespace nnapi_convert::host {
namespace {

constexpr const char* kMagic = "nnapi-convert-host cache 1";

// Returns the FNV-1a hash.
uint64_t checksum(const std::string& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return hash;
}

void describe(const Model& model, std::string& text) {
  text += fmt::format("model, feature level {}{}\n", model.feature_level(), model.relaxed() ? ", relaxed" : "");
  for (const Operand& operand : model.operands()) {
    text += fmt::format("{} {} {} {} {}\n", name_of(operand.type), to_string(operand.shape), operand.scale,
                        operand.zero_point, static_cast<int>(operand.lifetime));
    if (operand.model) describe(*operand.model, text);
  }
  for (const Operation& operation : model.operations()) {
    text += fmt::format("{} {} {}\n", subject_of(operation), fmt::join(operation.inputs, ","),
                        fmt::join(operation.outputs, ","));
  }
  text += fmt::format("{} -> {}\n", fmt::join(model.inputs(), ","), fmt::join(model.outputs(), ","));
}

std::string with_header(const std::string& content) {
  return fmt::format("{}\n{:016x} {}\n{}", kMagic, checksum(content), content.size(), content);
}

// Returns whether the checksum in the file is the checksum of its content.
bool is_whole(const std::string& bytes) {
  std::size_t start = bytes.find('\n');
  if (start == std::string::npos) return false;
  start = bytes.find('\n', start + 1);
  return start != std::string::npos && bytes == with_header(bytes.substr(start + 1));
}

}  // namespace

CacheFile::CacheFile(const std::string& directory, const CacheToken& token) : path_(directory) {
  if (!path_.empty() && path_.back() != '/') path_ += '/';
  for (const uint8_t byte : token) path_ += fmt::format("{:02x}", byte);
  path_ += ".nnapi-host";
}

bool CacheFile::check(const Model& model) const {
  std::string content;
  describe(model, content);
  const std::string needed = with_header(content);
  std::ifstream stream(path_, std::ios::binary);
  const bool exists = stream.is_open();
  const std::string found((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (found == needed) {
    log(LogLevel::kInfo, "cache file {}: found", path_);
    return true;
  }
  const char* state = !exists ? "missing" : is_whole(found) ? "of another model" : "damaged";
  log(LogLevel::kInfo, "cache file {}: {}, it is written anew", path_, state);
  write(needed);
  return false;
}

void CacheFile::write(const std::string& bytes) const {
  std::string temporary = path_ + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0) {
    log(LogLevel::kError, "cache file {}: {}; nothing is cached", path_, std::strerror(errno));
    return;
  }
  const bool written = ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  const bool closed = close(fd) == 0;
  if (written && closed && std::rename(temporary.c_str(), path_.c_str()) == 0) return;
  log(LogLevel::kError, "cache file {}: {}; nothing is cached", path_, std::strerror(errno));
  std::remove(temporary.c_str());
}

}  // namespace nnapi_convert::host
