"""--input NAME=VALUE binds an argument of forward that is no tensor: branches on it are decided, and other values are
errors when the converted module runs."""

import json
import unittest
from typing import Optional

import torch
import torch.utils.bundled_inputs
from torch import nn

from cli import CliTest
from stock_torch import StockTorchTest, call, load

RATES = (8000, 16000)


class Detector(nn.Module):
    """A voice detector for two rates."""

    def __init__(self):
        super().__init__()
        self.low = nn.Conv1d(1, 8, 8, stride=4)
        self.high = nn.Conv1d(1, 8, 16, stride=8)
        self.last = nn.Linear(8, 2)

    def forward(self, x, sr: int):
        if sr not in [8000, 16000]:
            raise ValueError("another rate")
        if x.dim() != 2:
            raise ValueError("another rank")
        x = x.unsqueeze(1)
        y = self.low(x) if sr == 8000 else self.high(x)
        return torch.sigmoid(self.last(torch.relu(y).mean(2)))


class AllKinds(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 5)

    def forward(self, x, scale: float, mode: str, flag: bool = False, steps: Optional[int] = None,
                mask: Optional[torch.Tensor] = None):
        x = self.linear(x) * scale
        if mode == "tanh, both":
            x = torch.tanh(x)
        if flag:
            x = x + 1
        if steps is not None:
            for _ in range(steps):
                x = x * 0.5 + torch.relu(x)
        if mask is not None:
            x = x * mask
        return x


class BoundTest(CliTest, StockTorchTest):
    def save(self, model):
        torch.manual_seed(0)
        self.original = torch.jit.script(model().eval())
        self.model = self.folder / "model.pt"
        torch.jit.save(self.original, str(self.model))

    def convert_bound(self, *inputs, options=()):
        report = self.folder / "report.json"
        arguments = [text for spec in inputs for text in ("--input", spec)]
        path = self.convert(self.model, *arguments, "--verify", "--report", report, *options)
        return load(path), json.loads(report.read_text())


class Integers(BoundTest):
    x = torch.randn(1, 512, generator=torch.Generator().manual_seed(3))

    def test_branches_vanish(self):
        self.save(Detector)
        for rate in RATES:
            converted, report = self.convert_bound("1,512", f"sr={rate}")
            self.assertEqual(1, report["partition"]["mac_share"])
            self.assertEqual([], report["partition"]["cpu"])
            self.assertEqual(1, len(report["partition"]["segments"]))
            self.assert_close(self.original(self.x, rate), converted(self.x, rate))
            signatures = [str(module.forward.schema).partition(",")[2] for module in (self.original, converted)]
            self.assertEqual(*signatures)

    def test_another_value(self):
        self.save(Detector)
        converted, _ = self.convert_bound("1,512", "sr=16000")
        with self.assertRaisesRegex(Exception, "input sr: 8000 found, 16000 needed"):
            converted(self.x, 8000)

    def test_order_and_verify(self):
        """The converted file records the values that arguments are bound to."""
        self.save(Detector)
        path = self.convert(self.model, "--input", "sr=8000", "--input", "x=1,512")
        self.assertIn("passed", self.succeed("verify", self.model, path).stdout)
        self.succeed("verify", self.model, path, "--per-op")
        self.succeed("check", self.model, "--input", "sr=8000", "--input", "x=1,512")

    def test_inputs_of_verify(self):
        self.save(Detector)
        path = self.convert(self.model, "--input", "sr=8000", "--input", "x=1,512")
        for rate, code in ((8000, 0), (16000, 3)):
            torch.save((self.x, rate), self.folder / "inputs.pt")
            options = ["verify", self.model, path, "--inputs", self.folder / "inputs.pt"]
            self.succeed(*options) if code == 0 else self.fail_with(code, *options)

    def test_refused_value(self):
        """A value that the model itself raises an error for."""
        self.save(Detector)
        self.fail_with(1, self.model, "--input", "1,512", "--input", "sr=44100", "-o", self.folder / "out.pt",
                       needed=["another rate"])

    def test_bundled_value_differs(self):
        """The bundled sizes hold for another value than the one that is bundled."""
        self.save(Detector)
        bundled = torch.utils.bundled_inputs.bundle_inputs(
            self.original, [(torch.utils.bundled_inputs.bundle_randn(1, 512), 16000)])
        bundled.save(str(self.model))
        path = self.convert(self.model, "--input", "sr=8000")
        self.assert_close(self.original(self.x, 8000), load(path)(self.x, 8000))

    def test_without_a_value(self):
        self.save(Detector)
        result = self.succeed(self.model, "--input", "1,512", "-o", self.folder / "out.pt")
        self.assertIn("bind it to a value with --input sr=VALUE", result.stderr)
        self.fail_with(2, self.model, "--input", "1,512", "--input", "1", "-o", self.folder / "out.pt",
                       needed=["sr is int; bind it to a value with --input sr=VALUE"])


class Kinds(BoundTest):
    x = torch.randn(2, 6, generator=torch.Generator().manual_seed(4))

    def test_all(self):
        self.save(AllKinds)
        converted, report = self.convert_bound("2,6", "scale=-2.5e-1", 'mode="tanh, both"', "flag=true", "steps=2",
                                               "mask=None")
        self.assertEqual([], report["partition"]["cpu"])
        found = converted(self.x, -0.25, "tanh, both", True, 2, None)
        self.assert_close(self.original(self.x, -0.25, "tanh, both", True, 2, None), found)
        for arguments, message in (((-0.5, "tanh, both", True, 2), "input scale: -0.5 found, -0.25 needed"),
                                   ((-0.25, "no", True, 2), "input mode: no found, tanh, both needed"),
                                   ((-0.25, "tanh, both", False, 2), "input flag: False found, True needed"),
                                   ((-0.25, "tanh, both", True), "input steps: None found, 2 needed"),
                                   ((-0.25, "tanh, both", True, 3), "input steps: 3 found, 2 needed"),
                                   ((-0.25, "tanh, both", True, 2, self.x), "input mask: a value found, None needed")):
            with self.assertRaisesRegex(Exception, message):
                converted(self.x, *arguments)

    def test_none_and_defaults(self):
        self.save(AllKinds)
        converted, _ = self.convert_bound("2,6", "scale=3", "mode=plain", "steps=None", "flag=False", "mask=2,5")
        mask = torch.rand(2, 5)
        self.assert_close(self.original(self.x, 3.0, "plain", mask=mask), converted(self.x, 3.0, "plain", mask=mask))

    def test_wrong_values(self):
        self.save(AllKinds)
        for spec, needed in (("scale=fast", 'forward takes float for scale, and "fast" is not a number'),
                             ("steps=1.5", '"1.5" is not a whole number or None'),
                             ("flag=1", '"1" is not true or false'),
                             ("x=None", 'size "None" is neither'),
                             ("y=None", 'size "None" is neither'),
                             ("x=abc", 'size "abc" is neither'),
                             ("x=1x3", 'size "1x3" is neither'),
                             ("scale=", '"" is not a number')):
            self.fail_with(2, self.model, "--input", spec, "-o", self.folder / "out.pt", needed=[needed])
        self.fail_with(2, self.model, "--input", "flag=true", "--input", "flag=true", "-o", self.folder / "out.pt",
                       needed=["two --input for input flag"])

    def test_wrong_sizes_for_verify(self):
        self.save(AllKinds)
        for spec in ("x=abc", "x=1x3", "1x3"):
            self.fail_with(2, "verify", self.model, self.fixture("mlp.pt"), "--input", spec, needed=["is neither"])


if __name__ == "__main__":
    unittest.main()
