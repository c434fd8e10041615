# SPDX-License-Identifier: BSD-3-Clause
"""run_on_device.py MODEL DEVICE INPUTS OUTPUT: runs a module that was converted for the shim, each of its segments on
the one NNAPI device of this name, which fails where the device does not take all of it."""

import pathlib
import sys

import torch

from cli import PROGRAM

torch.ops.load_library(str(pathlib.Path(PROGRAM).resolve().parents[1] / "lib" / "libnnapi_shim_torch.so"))
torch.backends.quantized.engine = "qnnpack"

path, device, inputs, output = sys.argv[1:]
module = torch.jit.load(path).eval()
parts = [part for part in module.modules() if hasattr(part, "nnapi_configure")]
for part in parts:
    part.nnapi_configure({"device": device})
found = module(*torch.load(inputs))
print(f"{len(parts)} on {device}")
torch.save(found, output)
