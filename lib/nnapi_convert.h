// SPDX-License-Identifier: BSD-3-Clause
// The converter as a library: load_model(), convert(), write_conversion(), make_report(), verify(). Their headers have
// the contracts. Errors are thrown as ConvertError.
#pragma once

#include "lib/base/error.h"
#include "lib/converter/convert.h"
#include "lib/converter/load/load.h"
#include "lib/converter/report/report.h"
#include "lib/converter/verify/verify.h"
#include "lib/types/options.h"
