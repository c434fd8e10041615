// SPDX-License-Identifier: BSD-3-Clause
// Which pictures a source names: a folder with its folders, a text file with one path a line, or a picture itself; and
// which files of NumPy a folder has.
#pragma once

#include <string>
#include <vector>

namespace nnapi_convert::calibration {

// True for a folder without arrays, for .txt and for what ends as pictures do.
bool names_pictures(const std::string& source);

// True for a .npy or .npz file, and for a folder of them.
bool names_arrays(const std::string& source);

struct ListedPicture {
  std::string path;
  std::string name = {};   // as the source has it: relative to the folder, or as the list writes it
  std::string label = {};  // a list's second column; may be empty
};

// In the order of their paths; those of a list in its order. A line of a list is a path, or a path and a label, a tab
// between them. Spaces may be between them, too, where no file has the whole line as its path, and one the text before
// them. Throws ConvertError (kBadFile) where there is none.
std::vector<ListedPicture> list_pictures(const std::string& source);

// The .npy and .npz files of a folder and its folders, in the order of their paths, as pictures are listed; none where
// the source is no folder. Throws ConvertError (kBadFile) for a folder of both pictures and arrays.
std::vector<ListedPicture> list_arrays(const std::string& source);

}  // namespace nnapi_convert::calibration
