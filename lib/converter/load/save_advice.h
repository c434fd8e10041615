// SPDX-License-Identifier: BSD-3-Clause
// Says how people save a model that this program reads, for messages. PyTorch 2.14 calls torch.jit.trace deprecated,
// and 1.13 has no exported programs.
#pragma once

#include <string>

namespace nnapi_convert {

inline const std::string& how_to_save() {
  static const std::string text =
      "torch.export.save(torch.export.export(model.eval(), (example,)), \"model.pt2\"), or with PyTorch before 2.1 "
      "torch.jit.trace(model.eval(), example).save(\"model.pt\")";
  return text;
}

}  // namespace nnapi_convert
