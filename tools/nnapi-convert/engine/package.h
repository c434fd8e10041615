// SPDX-License-Identifier: BSD-3-Clause
// Converts one original to the models of a package.
#pragma once

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/conversion.h"
#include "lib/converter/load/load.h"
#include "tools/nnapi-convert/requests.h"

namespace nnapi_convert {

// Returns the options for one model of the package: the conversion's, changed by the model's own, and without a
// fallback. Throws ConvertError (kUsage) for a shape= whose name forward lacks.
ConvertOptions options_of(const PackageRequest& request, const LoadedModel& model, ConvertOptions options);

// Returns why a conversion isn't quantised as the request asks; empty if it is.
std::string quantisation_refusal(const PackageRequest& request, const Conversion& conversion);

// Returns advice in the words of --package, in place of the options that it names.
std::string in_package_words(std::string advice);
// Puts all refusals and warnings into the words of --package.
void use_package_words(Diagnostics& diagnostics);

// Converts `loaded` for each model of arguments.package, and makes them one module. Throws ConvertError, naming the
// model.
Conversion convert_package(LoadedModel loaded, const ConvertArguments& arguments,
                           const std::vector<std::string>& class_names, Diagnostics& diagnostics);

}  // namespace nnapi_convert
