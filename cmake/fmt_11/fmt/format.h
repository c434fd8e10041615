// SPDX-License-Identifier: BSD-3-Clause
// fmt 11 has fmt::join in a header of its own; sources include fmt/format.h alone.
#pragma once

#include_next <fmt/format.h>

#include <fmt/ranges.h>
