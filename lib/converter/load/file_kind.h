// SPDX-License-Identifier: BSD-3-Clause
// Finds out what a file is that should hold a model, by its first bytes, and by the directory of an archive.
#pragma once

#include <string>

namespace nnapi_convert {

struct FileKind {
  enum class Format {
    kOpen,       // TorchScript, or nothing that is known: reading it tells
    kExported,   // an exported program of torch.export
    kConverted,  // this program wrote it
    kOther,      // another format
  };
  Format format = Format::kOpen;
  std::string found = {};   // of kOther: what it is, for example "an ONNX model"
  std::string advice = {};  // of kOther: what to do
};

// Reads the first bytes, the directory of an archive and the beginning of what torch.save pickled; no weights.
FileKind kind_of_file(const std::string& path);

// Returns the file's format. Throws ConvertError (kBadFile) unless the file may be a TorchScript file or an exported
// program, and says what it is instead. `may_be_converted`: this program may have written it.
FileKind::Format check_file_kind(const std::string& path, bool may_be_converted);

}  // namespace nnapi_convert
