// What a converted file says of itself, in the archive's extra file: enough to feed it, compare it and show it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

constexpr const char* kMetadataFile = "nnapi_convert.json";
constexpr int kMetadataVersion = 1;

struct MetadataInput {
  std::string name;
  TensorType type;      // what the converted module takes; flexible sizes as Dims of the input
  TensorType original;  // what the original takes; dtype and quantisation only
  bool nhwc = false;    // NNAPI is fed NHWC
};

struct Metadata {
  std::string quant;      // "none", "core", "full" or "nnapi"
  int feature_level = 0;  // the lowest that the model needs
  std::vector<MetadataInput> inputs;
  std::vector<Quantization> outputs;
  std::string options;  // of the conversion, as JSON: enough to convert the original the same way; empty: not recorded
};

Metadata make_metadata(const nnapi::Model& model, const ModuleInterface& interface, const std::string& quant);
std::string to_json(const Metadata& metadata);
// Throws ConvertError (kBadFile) for text that is no metadata of a known version.
Metadata parse_metadata(const std::string& text);

}  // namespace nnapi_convert
