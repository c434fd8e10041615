// SPDX-License-Identifier: BSD-3-Clause
// Makes the records of a file that tell an app about the model (schemas/nnapi_extras.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/folder.h"
#include "lib/serialize/module_interface.h"
#include "lib/types/calibration_options.h"

namespace nnapi_convert {

// Returns the number of the input that takes pictures: floats, quantised numbers or bytes of 1 or 3 channels (bytes
// also of 4). One input of bytes comes before all others. Nothing if there is none, or more than one.
std::optional<size_t> picture_input(const ModuleInterface& interface);

// Throws ConvertError (kUsage) where the options for pictures make no sense for the model.
void check_pictures(const PictureChoice& pictures, const ModuleInterface& interface);

// Returns the bytes of the record by which the shim prepares pictures; none for a model that takes no pictures.
std::string picture_record_of(const PictureChoice& choice, const ModuleInterface& interface);

// Reads the names of classes: a line for each, or a JSON list of strings. Throws ConvertError (kBadFile) for another
// file.
std::vector<std::string> read_labels(const std::string& path);

// Returns the notes by their keys. Each text is KEY=VALUE. Throws ConvertError (kUsage) for another text, and for a key
// that is given twice.
std::map<std::string, std::string> parse_notes(const std::vector<std::string>& texts);

// The labels, notes and files in an archive that tell people and apps about the model.
struct AppNotes {
  std::vector<std::string> labels;
  std::map<std::string, std::string> notes;
  std::vector<FolderFile> extra_files;  // of the original
  std::string origin;                   // what made the file, as JSON; empty: it doesn't tell
};

// Returns the record of what made a file: the program's version, its options, and the original's bytes. Throws
// ConvertError (kBadFile) if the original can't be read.
std::string origin_record(const std::string& version, const std::vector<std::string>& options,
                          const std::string& original);

// Returns the notes as records of an archive.
std::vector<FolderFile> records_of(const AppNotes& notes);

}  // namespace nnapi_convert
