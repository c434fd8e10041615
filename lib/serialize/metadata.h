// SPDX-License-Identifier: BSD-3-Clause
// Writes and reads the metadata of a converted file, an extra file of its archive: the inputs, outputs and options that
// other commands need to run, compare and show the file.
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
  TensorType type;      // the type that the converted module takes; flexible sizes are Dims of the input
  TensorType original;  // the original module's dtype and quantisation
  bool nhwc = false;    // NNAPI's input is NHWC
};

// A model of a package.
struct MetadataVariant {
  std::string name, quant;
  int feature_level = 0;
  std::vector<Dims> sizes;  // the arguments' sizes
  std::string options;      // like Metadata::options
};

struct Metadata {
  std::string quant;      // "none", "core", "full" or "nnapi"
  int feature_level = 0;  // the lowest level that runs the model
  std::vector<MetadataInput> inputs = {};
  SizeConditions conditions = {};  // on sizes of the inputs; only those that the file can express
  std::vector<Quantization> outputs = {};
  std::string options = {};  // the conversion's options as JSON, to convert the original again; empty: not recorded
  std::vector<MetadataVariant> variants = {};  // a package's models; the other fields are those of
                                               // the first with the file's inputs and outputs
  std::string method = {};                     // the method's name, in a file of several methods; else empty
};

Metadata make_metadata(const nnapi::Model& model, const ModuleInterface& interface, const std::string& quant);
std::string to_json(const Metadata& metadata);
// Returns the JSON of a file of several methods.
std::string to_json(const std::vector<Metadata>& methods);
// Returns the metadata of a file of one method. Throws ConvertError (kBadFile) for other text or an unknown version.
Metadata parse_metadata(const std::string& text);
// Returns the metadata of each method; for a file of one method, one without a name. Throws as parse_metadata() does.
std::vector<Metadata> parse_methods_metadata(const std::string& text);

}  // namespace nnapi_convert
