// Converts one original to the models of a package.
#pragma once

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/conversion.h"
#include "lib/converter/load/load.h"
#include "tools/nnapi-convert/requests.h"

namespace nnapi_convert {

// The options of the conversion with those of one model of the package.
ConvertOptions options_of(const PackageRequest& request, ConvertOptions options);

// Converts `loaded` for each model of arguments.package, and makes them one module. Throws ConvertError, naming the
// model.
Conversion convert_package(LoadedModel loaded, const ConvertArguments& arguments, Diagnostics& diagnostics);

}  // namespace nnapi_convert
