// SPDX-License-Identifier: BSD-3-Clause
// Lists the pictures that a source names: a folder with its subfolders, a text file with one path a line, or a picture
// itself. Lists NumPy's files in a folder, too.
#pragma once

#include <string>
#include <vector>

namespace nnapi_convert::calibration {

// True for a folder without arrays, for a .txt file and for a name with a picture's ending.
bool names_pictures(const std::string& source);

// True for a .npy or .npz file, and for a folder of them.
bool names_arrays(const std::string& source);

struct ListedPicture {
  std::string path;
  std::string name = {};   // as the source has it: relative to the folder, or as the list writes it
  std::string label = {};  // a list's second column; may be empty
};

// Returns a folder's pictures in the order of their paths; those of a list in the list's order. A line of a list is a
// path, or a path, a tab and a label. Spaces may stand for the tab if the whole line is no file's path, and the text
// before them is. Throws ConvertError (kBadFile) if there is no picture.
std::vector<ListedPicture> list_pictures(const std::string& source);

// Returns the .npy and .npz files of a folder and its subfolders, in the order of their paths; none if the source is no
// folder. Throws ConvertError (kBadFile) for a folder of both pictures and arrays.
std::vector<ListedPicture> list_arrays(const std::string& source);

}  // namespace nnapi_convert::calibration
