# SPDX-License-Identifier: BSD-3-Clause
"""What tests of models in several floating-point dtypes share."""

import json

import torch

from cli import CliTest
from stock_torch import StockTorchTest, load

WIDTHS = {torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float64: "float64"}


class WidthTest(CliTest, StockTorchTest):
    def convert_width(self, module, inputs, width, *options):
        """Scripts, as this machine can't trace float16; gives the converted module, the report and what is said."""
        path = self.folder / "model.pt"
        torch.jit.save(torch.jit.script(module.to(width).eval()), str(path))
        sizes = [text for each in inputs for text in ("--input", ",".join(map(str, each.shape)))]
        report = self.folder / "report.json"
        result = self.succeed(path, *sizes, "--verify", "--report", report, "-o", self.folder / "out.pt", *options)
        self.assertEqual(1, result.stderr.count(f"the model computes in {WIDTHS[width]}"), result.stderr)
        return load(self.folder / "out.pt"), json.loads(report.read_text()), result

    def assert_rounded(self, expected, found, width):
        self.assertEqual(len(expected), len(found))
        for one, other in zip(expected, found):
            self.assertEqual(one.shape, other.shape)
            one, other = one.double(), other.double()
            spread = (one.max() - one.min()).item()
            self.assertGreater(spread, 0)
            step = 0 if width == torch.float64 else torch.finfo(width).eps * one.abs().max().item()
            self.assertLessEqual((one - other).abs().max().item(), 1e-4 * spread + step)

    def convert_scripted(self, module, *options):
        torch.jit.save(torch.jit.script(module.eval()), str(self.folder / "model.pt"))
        return load(self.convert(self.folder / "model.pt", *options))
