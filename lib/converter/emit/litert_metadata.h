// SPDX-License-Identifier: BSD-3-Clause
// TFLite's metadata in a LiteRT file: what readers such as MediaPipe's tasks look for (TFLITE_METADATA, a flatbuffer by
// the public metadata schema, and the files that it names in a zip archive at the file's end).
#pragma once

#include "lib/converter/emit/attached_records.h"
#include "lib/converter/emit/conversion.h"
#include "lib/litert/file.h"

namespace nnapi_convert {

// Adds the notes, the labels, the original's extra files and how pictures become the input. Nothing is added where
// there are none. `conversion` is that of the file's first signature.
void add_litert_metadata(litert::File& file, const Conversion& conversion, const AppNotes& notes);

}  // namespace nnapi_convert
