// Which pictures a source names: a folder with its folders, a text file with one path a line, or a picture itself.
#pragma once

#include <string>
#include <vector>

namespace nnapi_convert::calibration {

// True for a folder, for .txt and for what ends as pictures do.
bool names_pictures(const std::string& source);

// In the order of their paths; those of a list in its order. Throws ConvertError (kBadFile) where there is none.
std::vector<std::string> list_pictures(const std::string& source);

}  // namespace nnapi_convert::calibration
