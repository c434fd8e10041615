# SPDX-License-Identifier: BSD-3-Clause
"""What tests of weights in less than float32 share (--fp16-weights, --int8-weights)."""

import pathlib

import torch

from cli import PROGRAM, CliTest
from stock_torch import StockTorchTest

torch.ops.load_library(str(pathlib.Path(PROGRAM).resolve().parents[1] / "lib" / "libnnapi_shim_torch.so"))

RUNTIMES = ("pytorch", "shim")


class StoredWeightsTest(CliTest, StockTorchTest):
    def save(self, module, name="model.pt"):
        path = self.folder / name
        torch.jit.save(torch.jit.script(module.eval()), str(path))
        return path

    def converted(self, path, *options, name="out.pt", sizes="2,3,16,16"):
        out = self.folder / name
        result = self.succeed(path, "--input", sizes, "--nhwc", *options, "-o", out)
        return out, result
