#include "lib/base/fed_range.h"

#include <fmt/format.h>

namespace nnapi_convert {

std::string to_text(const FedRange& range) {
  return fmt::format("input {} is fed {:.4g} to {:.4g}\n", range.input, range.lowest, range.highest);
}

}  // namespace nnapi_convert
