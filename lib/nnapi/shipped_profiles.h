// SPDX-License-Identifier: BSD-3-Clause
// Gives the device profiles and driver rules that come with the program: the files of schemas/profiles, and
// schemas/driver_rules.json, at build time.
#pragma once

#include <string>
#include <vector>

#include "lib/base/folder.h"
#include "lib/nnapi/device_profile.h"

namespace nnapi_convert {

// Returns the profiles by name, without ".json", in ascending order.
const std::vector<FolderFile>& shipped_profiles();

// Returns the driver rules as a list of one file.
const std::vector<FolderFile>& shipped_driver_rules();

namespace nnapi {

// Reads a profile by the path of a file or the name of a shipped profile. Throws ConvertError (kBadFile) like
// DeviceProfile::read().
DeviceProfile find_profile(const std::string& file_or_name);

}  // namespace nnapi
}  // namespace nnapi_convert
