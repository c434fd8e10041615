# SPDX-License-Identifier: BSD-3-Clause
"""Multiply-adds of what stays on the CPU: every operator that multiplies is counted, and an unknown cost is said to be
unknown; percentages never say more than was counted."""

import json
import unittest

import jsonschema
import torch
from torch import nn

from cli import ROOT, CliTest, run

SCHEMAS = {name: json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text()) for name in ("report", "check")}
CHANNELS, SIZE = 8, 8
CONV = CHANNELS * 3 * 9 * SIZE * SIZE


class Ahead(nn.Module):
    """A convolution for NNAPI, followed by `tail`."""

    def __init__(self, tail):
        super().__init__()
        self.conv = nn.Conv2d(3, CHANNELS, 3, padding=1)
        self.tail = tail

    def forward(self, x):
        return self.tail(self.conv(x))


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Dynamic(nn.Module):
    """A convolution with five channels of one pixel, quantised dynamically."""

    def __init__(self):
        super().__init__()
        weight = torch.quantize_per_tensor(torch.randn(2, 5, 1, 1), 0.02, 0, torch.qint8)
        self.filter = torch.ops.quantized.conv2d_prepack(weight, None, [1, 1], [0, 0], [1, 1], 1)

    def forward(self, x):
        return torch.ops.quantized.conv2d_dynamic(x[:, :5, :1, :1], self.filter)


class Packed(nn.Module):
    """XNNPACK's operators, which optimize_for_mobile() puts in, with a weight that is computed."""

    def __init__(self):
        super().__init__()
        self.weight = torch.randn(4, CHANNELS, 3, 3)

    def forward(self, x):
        packed = torch.ops.prepacked.conv2d_clamp_prepack(self.weight * x.mean(), None, [1, 1], [1, 1], [1, 1], 1,
                                                          None, None)
        return torch.ops.prepacked.conv2d_clamp_run(x, packed)


class Heads(nn.Module):
    """A quantised head across the rows that are kept, whose number is known only at run time."""

    def __init__(self, kernel: int):
        super().__init__()
        self.head = torch.nn.quantized.Conv2d(CHANNELS, 4, kernel)
        self.head.set_weight_bias(torch.quantize_per_tensor(torch.randn(4, CHANNELS, kernel, kernel), 0.02, 0,
                                                            torch.qint8), torch.zeros(4))

    def forward(self, x):
        rows = x.sort(1)[0].permute(2, 3, 1, 0).flatten(0, 1)
        kept = rows[torch.nonzero(rows.sum([1, 2]) > 0).flatten()]
        kept = kept.unsqueeze(-1).expand(-1, -1, 3, 3)
        picture = (kept + kept.flip(0)).permute(1, 0, 2, 3).flatten(2)[None]  # of as many lines as there are rows
        quantised = torch.quantize_per_tensor(picture, 0.05, 64, torch.quint8)
        return self.head(quantised).dequantize()


class CostsTest(CliTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        torch.backends.quantized.engine = "qnnpack"
        self.path = self.folder / "model.pt"
        self.shape = ["--input", f"1,3,{SIZE},{SIZE}", "--nhwc", "--min-segment-macs", "0"]

    def save(self, tail):
        with torch.no_grad():
            torch.jit.trace(Ahead(tail).eval(), torch.randn(1, 3, SIZE, SIZE), check_trace=False).save(str(self.path))

    def partition(self):
        """Returns the report's part on costs and the text."""
        report = self.folder / "report.json"
        said = self.succeed(self.path, *self.shape, "-o", self.folder / "out.pt", "--report", report).stderr
        whole = json.loads(report.read_text())
        jsonschema.Draft202012Validator(SCHEMAS["report"]).validate(whole)
        return whole["partition"], said

    def counted(self, operator: str, macs: int, tail):
        self.save(tail)
        partition, said = self.partition()
        self.assertEqual([macs], [node["macs"] for node in partition["cpu"] if node["op"] == operator])
        self.assertAlmostEqual(CONV / (CONV + macs), partition["mac_share"])
        tenths = 1000 * CONV // (CONV + macs)
        self.assertIn(f"with {tenths // 10}.{tenths % 10} % of the multiply-adds go to NNAPI", said)
        return partition, said


class Counted(CostsTest):
    def test_prepacked(self):
        """Its sizes aren't known, but that it multiplies."""
        self.save(Packed())
        partition, said = self.partition()
        self.assertEqual((2, 1), (partition["products"]["all"], partition["products"]["uncounted"]))
        self.assertIsNone(partition["mac_share"])
        self.assertNotIn("with 100.0 % of the multiply-adds go", said)

    def test_rounded_down(self):
        """99.96 % is no 100.0 %."""
        _, said = self.counted("quantized::conv2d_dynamic", 5 * 2, Dynamic())
        self.assertIn("99.9 %", said)


class Unknown(CostsTest):
    def unknown(self, tail):
        self.save(tail)
        partition, said = self.partition()
        self.assertIsNone(partition["mac_share"])
        self.assertEqual(1, partition["counted_mac_share"])
        self.assertNotIn("with 100.0 % of the multiply-adds go", said)
        self.assertIn("100.0 % of the multiply-adds that can be counted", said)
        return partition, said

    def test_transforms(self):
        partition, said = self.unknown(Function(lambda x: torch.linalg.matrix_exp(x)))
        self.assertEqual((0, 1), (partition["products"]["uncounted"], partition["products"]["unknown_operators"]))
        self.assertIn("; not counted: 1 on the CPU of operators whose cost isn't known", said)

    def test_products_of_many(self):
        wide = Function(lambda x: torch._trilinear(*x[0, :3].double().unbind(0), [], [], [], [1]).float())
        partition, _ = self.unknown(wide)
        self.assertEqual((2, 1), (partition["products"]["all"], partition["products"]["uncounted"]))


class QuantisedHead(CostsTest):
    def test_is_no_whole_model(self):
        """Its head's convolution is on the CPU: neither 100 % nor "whole"."""
        self.save(Heads(3))
        partition, said = self.partition()
        head, = [node for node in partition["cpu"] if node["op"].startswith("quantized::conv2d")]
        if head["macs"] is None:
            self.assertIsNone(partition["mac_share"])
        else:
            self.assertLess(partition["mac_share"], 1)
        self.assertNotIn("with 100.0 % of the multiply-adds go", said)
        result = run("check", self.path, *self.shape, "--explain-speed")
        self.assertNotIn(": whole", result.stdout)
        self.assertNotIn("; fits", result.stdout)
        form = json.loads(run("check", self.path, *self.shape, "--explain-speed", "--format", "json").stdout)
        jsonschema.Draft202012Validator(SCHEMAS["check"]).validate(form)
        for fit in form["speed"]["quant"]:
            self.assertFalse(fit["fits"], fit)
            self.assertTrue(not fit["converts"] or fit["on_cpu"] > 0, fit)


class FlexibleSizes(CostsTest):
    def test_nothing_is_said_of_what_is_not_known(self):
        """For a whole model with flexible sizes, `check` reports neither 0 multiply-adds nor that NNAPI is slower."""
        options = ["--input", "?,3,?,?", "--nhwc"]
        path = self.fixture("residual.pt")
        form = json.loads(self.succeed("check", path, *options, "--explain-speed", "--format", "json").stdout)
        jsonschema.Draft202012Validator(SCHEMAS["check"]).validate(form)
        self.assertEqual([None], [segment["macs"] for segment in form["segments"]])
        self.assertIsNone(form["speed"]["probably_slower"])
        self.assertFalse(form["speed"]["counts_all"])
        said = self.succeed("check", path, *options, "--explain-speed").stdout
        self.assertRegex(said, r"\n  whole +\d+ +unknown +100.0% +unknown")
        self.assertIn("whether NNAPI is slower than the CPU isn't known: sizes are flexible", said)


if __name__ == "__main__":
    unittest.main()
