# SPDX-License-Identifier: BSD-3-Clause
"""run_package.py MODULE FOLDER OPTIONS LIBRARY INPUTS...: runs a package as an app does, on NNAPI's library (empty: the
system's, if there is one), and prints the module's state as JSON. Inputs and results.pt are in the folder."""

import ctypes
import json
import pathlib
import sys

import torch

from cli import LIBRARIES

path, folder, options, library, *names = sys.argv[1:]
if library:
    ctypes.CDLL(library)  # the shim's dlopen() of that name then finds it
torch.ops.load_library(str(LIBRARIES / "libnnapi_shim_torch.so"))
module = torch.jit.load(path)
module.nnapi_configure(json.loads(options))
results = []
for name in names:
    given = torch.load(pathlib.Path(folder) / name)
    results.append(module(*given) if isinstance(given, tuple) else module(given))
torch.save(results, f"{folder}/results.pt")
print(json.dumps(module.nnapi_state()))
