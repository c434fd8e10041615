// SPDX-License-Identifier: BSD-3-Clause
// The parts of a report's page as they were when this program was built: page.html, page.css and the scripts.
#pragma once

#include <vector>

#include "lib/base/folder.h"

namespace nnapi_convert {

const std::vector<FolderFile>& report_page_files();

}  // namespace nnapi_convert
