# SPDX-License-Identifier: BSD-3-Clause
"""Results that a score orders: `verify` compares rows by score and values, as equal scores have no order."""

import json
import unittest
import warnings

import torch
from torch import nn

from cli import CliTest, run

SPEC = ["--nhwc", "--input", "1,3,32,32"]


class Detector(nn.Module):
    """The best boxes of a picture; scores are near each other, as of weights that were not trained."""

    def __init__(self, highest=50, spread=1e-6, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.layers = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU())
        self.layers[1].running_var.uniform_(0.5, 2)
        self.scores, self.boxes = nn.Conv2d(16, 1, 1), nn.Conv2d(16, 4, 1)
        self.highest, self.spread = highest, spread

    def forward(self, x):
        y = self.layers(x)
        raw = self.scores(y).flatten(1)
        boxes = self.boxes(y).flatten(2).transpose(1, 2)
        # Most of the scores tie but for their last bits, and two places tell the range.
        near = raw * self.spread + 0.5
        near = torch.cat([near[:, :1] + 1, near[:, 1:-1], near[:, -1:] + 0.5], 1)
        scores, places = near.topk(self.highest, 1)
        return boxes[0, places[0]], scores[0], places[0]


class Quantised(nn.Module):
    """The same of a quantised network: its scores are of few different integers."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.quantise = torch.ao.quantization.QuantStub()
        self.of_scores, self.of_boxes = torch.ao.quantization.DeQuantStub(), torch.ao.quantization.DeQuantStub()
        self.layers = nn.Sequential(nn.Conv2d(3, 64, 3, 2, 1), nn.Conv2d(64, 64, 3, 1, 1))
        self.scores, self.boxes = nn.Conv2d(64, 1, 1), nn.Conv2d(64, 4, 1)

    def forward(self, x):
        y = self.layers(self.quantise(x))
        scores, places = self.of_scores(self.scores(y)).flatten(1).topk(50, 1)
        return self.of_boxes(self.boxes(y)).flatten(2).transpose(1, 2)[0, places[0]], scores


class Ties(CliTest):
    def save(self, module, name="model.pt"):
        path = self.folder / name
        with torch.no_grad():
            torch.jit.trace(module.eval(), torch.rand(1, 3, 32, 32)).save(str(path))
        return path

    def test_scores_that_differ_in_their_last_bits(self):
        original = self.save(Detector())
        out = self.folder / "out.pt"
        result = self.succeed(original, *SPEC, "--verify", "-o", out)
        self.assertRegex(result.stdout, r"rows that scores order are compared by score and values.*of 200 rows [1-9]\d* are at another")
        report = json.loads(self.succeed("verify", original, out, "--format", "json").stdout)
        self.assertEqual(200, report["tied_rows"]["rows"])
        self.assertGreater(report["tied_rows"]["moved"], 0)
        self.assertEqual(0, report["tied_rows"]["without_partner"])
        for output in report["outputs"][:2]:
            self.assertLess(output["relative_error"], 1e-3)
            self.assertFalse(output["is_constant"])

    def test_quantised_scores(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.backends.quantized.engine = "qnnpack"
            module = Quantised().eval()
            module.qconfig = torch.ao.quantization.get_default_qconfig("qnnpack")
            torch.ao.quantization.prepare(module, inplace=True)
            for _ in range(4):
                module(torch.rand(1, 3, 32, 32))
            torch.ao.quantization.convert(module, inplace=True)
        original = self.save(module)
        result = self.succeed(original, *SPEC, "--verify", "-o", self.folder / "out.pt")
        self.assertIn("a partner for nearly all rows", result.stdout)

    def test_other_boxes_fail(self):
        original = self.save(Detector())
        for name, other in (("boxes", Detector()), ("scores", Detector(spread=1e-2)), ("all", Detector(seed=1))):
            with self.subTest(name):
                if name == "boxes":
                    with torch.no_grad():
                        other.boxes.bias += 0.05
                out = self.convert(self.save(other, "other.pt"), *SPEC)
                result = run("verify", original, out)
                self.assertEqual(4, result.code, str(result))
        out = self.convert(self.save(Detector(highest=40), "fewer.pt"), *SPEC)
        self.assertEqual(4, run("verify", original, out).code)

    def test_scores_without_ties(self):
        """Nothing is matched where the order is clear."""
        original = self.save(Detector(spread=1))
        report = json.loads(self.succeed("verify", original, self.convert(original, *SPEC), "--format", "json").stdout)
        self.assertNotIn("tied_rows", report)


if __name__ == "__main__":
    unittest.main()
