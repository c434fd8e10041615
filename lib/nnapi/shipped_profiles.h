// Device profiles that come with the program: those of schemas/profiles when it was built.
#pragma once

#include <string>
#include <vector>

#include "lib/base/folder.h"
#include "lib/nnapi/device_profile.h"

namespace nnapi_convert {

// By name, without ".json", in ascending order.
const std::vector<FolderFile>& shipped_profiles();

namespace nnapi {

// A shipped profile by its name, or that of a file. Throws ConvertError (kBadFile) like DeviceProfile::read().
DeviceProfile find_profile(const std::string& file_or_name);

}  // namespace nnapi
}  // namespace nnapi_convert
