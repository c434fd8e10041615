// SPDX-License-Identifier: BSD-3-Clause
// The source of the dtype and the sizes of an argument of forward.
#pragma once

namespace nnapi_convert {

enum class TypeSource {
  kOption,           // --input
  kBundledInputs,    // the inputs bundled with the file
  kTrace,            // the example that the model was traced with, which PyTorch 2 saves
  kExportedProgram,  // the signature of a .pt2
  kWeights,          // the channels of the first convolution's weights
};

// Returns the name that the report gives the source.
constexpr const char* name_of(TypeSource source) {
  switch (source) {
    case TypeSource::kOption:
      return "option";
    case TypeSource::kBundledInputs:
      return "bundled inputs";
    case TypeSource::kTrace:
      return "trace";
    case TypeSource::kExportedProgram:
      return "exported program";
    case TypeSource::kWeights:
      return "weights";
  }
  return "";
}

}  // namespace nnapi_convert
