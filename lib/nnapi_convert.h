// The converter as a library: load_model(), convert(), write_conversion(), make_report(), verify(). Their headers have
// the contracts. Errors are thrown as ConvertError.
#pragma once

#include "lib/base/error.h"
#include "lib/converter/convert.h"
#include "lib/converter/load.h"
#include "lib/converter/options.h"
#include "lib/converter/report.h"
#include "lib/converter/verify.h"
