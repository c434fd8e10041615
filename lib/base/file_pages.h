// SPDX-License-Identifier: BSD-3-Clause
// Gives back memory that holds the content of mapped files.
#pragma once

#include <cstddef>

namespace nnapi_convert {

// Takes pages out of the process, from the page of `begin` up to, but without, the page of the byte after the range.
// Does so only if all of them hold the unchanged content of a file: the next access reads them from the file. Changes
// no content. Without Linux's /proc/self/pagemap it does nothing.
void drop_file_pages(const void* begin, size_t size);

constexpr size_t kLargePartBytes = size_t{1} << 20;

// Calls drop_file_pages() for the read-only parts (code and constants) of the program and its libraries that have
// `least_bytes` or more. After the start of a large library that is mostly code which runs once.
void drop_library_pages(size_t least_bytes = kLargePartBytes);

}  // namespace nnapi_convert
