# SPDX-License-Identifier: BSD-3-Clause
"""--gelu tanh: the exact gelu by tanh's formula, in fewer operations."""

import json
import pathlib
import unittest

import torch
from torch import nn

from cli import PROGRAM, CliTest
from mobile_models import seeded
from stock_torch import StockTorchTest, call, load

torch.ops.load_library(str(pathlib.Path(PROGRAM).resolve().parents[1] / "lib" / "libnnapi_shim_torch.so"))

BLOCKS = 3


class Net(nn.Module):
    def __init__(self, approximate, blocks=BLOCKS):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(16, 64), nn.GELU(approximate), nn.Linear(64, 16))
                                    for _ in range(blocks))

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return x


def net(approximate="none"):
    return seeded(lambda: Net(approximate)).eval()


class Gelu(CliTest, StockTorchTest):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "model.pt"
        torch.jit.script(net()).save(str(self.path))
        self.x = torch.linspace(-6, 6, 5 * 16).reshape(5, 16)

    def converted(self, *options):
        out, report = self.folder / "out.pt", self.folder / "report.json"
        self.succeed(self.path, "--input", "5,16", "--fallback", "none", *options, "-o", out, "--report", report)
        return load(out), json.loads(report.read_text())["operation_count"]

    def distance(self, module, other):
        with torch.no_grad():
            return (call(module, self.x) - other(self.x)).abs().max().item()

    def test_is_the_formula_of_tanh(self):
        for runtime in ("pytorch", "shim"):
            with self.subTest(runtime=runtime):
                exact, operations = self.converted("--runtime", runtime)
                short, fewer = self.converted("--runtime", runtime, "--gelu", "tanh")
                self.assertLessEqual(fewer, operations - 2 * BLOCKS)
                self.assertLess(self.distance(exact, net()), 6e-5)
                self.assertLess(self.distance(short, net("tanh")), 1e-5)
                self.assertGreater(self.distance(short, net()), 4e-5)

    def test_verify_allows_its_error(self):
        for runtime in ("pytorch", "shim"):
            with self.subTest(runtime=runtime):
                self.converted("--runtime", runtime, "--gelu", "tanh")
                told = self.succeed("verify", self.path, self.folder / "out.pt")
                self.assertIn("max error at most 0.01 of the output's range", told.stdout)
                self.succeed("verify", self.path, self.folder / "out.pt", "--per-op")

    def test_verify_allows_errors_of_many(self):
        for approximate, allowed in (("none", 0.0002), ("tanh", 0.0001)):  # the one by tanh is exact on NNAPI, too
            with self.subTest(approximate=approximate):
                torch.jit.script(Net(approximate, 25).eval()).save(str(self.path))
                self.converted()
                told = self.succeed("verify", self.path, self.folder / "out.pt")
                self.assertIn(f"max error at most {allowed} of the output's range", told.stdout)

    def test_is_exact_or_tanh(self):
        self.fail_with(2, self.path, "--gelu", "fast", "-o", self.folder / "out.pt", needed=["--gelu", "exact", "tanh"])


if __name__ == "__main__":
    unittest.main()
