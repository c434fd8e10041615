"""Attributes that forward changes: layers that read them go to NNAPI where each call leaves them with the sizes and
dtypes that it found."""

import json
import unittest

import torch

from cli import CliTest
from state_models import Denoiser, Growing, Separator, VoiceDetector, Widening
from stock_torch import StockTorchTest, load

CALLS = 100


def values(call, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(call))


class StateTest(CliTest, StockTorchTest):
    def convert_model(self, model, *inputs):
        """The original and the converted module, and the share of the multiply-adds that goes to NNAPI."""
        torch.manual_seed(0)
        original = torch.jit.script(model.eval())
        path, report = self.folder / "model.pt", self.folder / "report.json"
        original.save(str(path))
        arguments = [part for shape in inputs for part in ("--input", shape)]
        converted = load(self.convert(path, *arguments, "--nchw", "--min-segment-macs", "1000", "--report", report))
        return load(path), converted, json.loads(report.read_text())["partition"]["mac_share"]

    def assert_same_calls(self, original, converted, inputs_of, calls=CALLS):
        seen = []
        with torch.no_grad():
            for call in range(calls):
                inputs = inputs_of(call)
                expected, found = original(*inputs), converted(*inputs)
                spread = (expected.max() - expected.min()).item()
                self.assertGreater(spread, 1e-4)
                self.assertLessEqual((expected - found).abs().max().item(), 1e-4 * max(spread, 1e-2))
                seen.append(expected)
        self.assertGreater((seen[0] - seen[-1]).abs().max().item(), 1e-3, "flat outputs show nothing")


class Stays(StateTest):
    """Sizes and dtypes stay: the layers go to NNAPI."""

    def test_voice_detector(self):
        original, converted, share = self.convert_model(VoiceDetector(), "x=1,512", "sr=16000")
        self.assertGreaterEqual(share, 0.95)
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 512), 16000))

    def test_denoiser(self):
        original, converted, share = self.convert_model(Denoiser(), "1,4,160")
        self.assertGreaterEqual(share, 0.95)
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 4, 160),))

    def test_separator(self):
        original, converted, share = self.convert_model(Separator(), "1,16,20")
        self.assertGreaterEqual(share, 0.95)
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 16, 20),))

    def test_state_matters(self):
        """The second call with the same input gives something else."""
        _, converted, _ = self.convert_model(Denoiser(), "1,4,160")
        x = values(0, 1, 4, 160)
        self.assertGreater((converted(x) - converted(x)).abs().max().item(), 1e-3)


class Changes(StateTest):
    """What changes its size or dtype has no type, and what reads it stays on the CPU."""

    def test_growing(self):
        original, converted, share = self.convert_model(Growing(), "4,32")
        self.assertLess(share or 0, 0.95)
        self.assert_same_calls(original, converted, lambda call: (values(call, 4, 32),), 10)

    def test_widening(self):
        original, converted, share = self.convert_model(Widening(), "1,64")
        self.assertLess(share or 0, 0.95)
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 64),), 10)


if __name__ == "__main__":
    unittest.main()
