# SPDX-License-Identifier: BSD-3-Clause
"""Attributes that forward changes: layers that read them go to NNAPI where each call leaves them with the sizes and
dtypes that it found."""

import json
import unittest

import torch

from cli import CliTest
from state_models import (Cache, Collected, Counted, Denoiser, EmptyAtFirst, EmptyInAVariable, Emptied, Growing,
                          Handed, Interleaved, Keyed, Pairs, Pyramid, Separator, Stacked, StackedOfAnySize, VoiceDetector,
                          Widening)
from stock_torch import StockTorchTest, load

CALLS = 100


def values(call, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(call))


class StateTest(CliTest, StockTorchTest):
    def convert_model(self, model, *inputs, example=None):
        """The original and the converted module, and the share of the multiply-adds that goes to NNAPI. The model is
        scripted, or traced with an example."""
        torch.manual_seed(0)
        model.eval()
        original = torch.jit.script(model) if example is None else torch.jit.trace(model, example, check_trace=False)
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

    def test_states_that_layers_take_and_give(self):
        original, converted, share = self.convert_model(Handed(), "1,10,32")
        self.assertGreaterEqual(share, 0.95)
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 10, 32),))

    def test_states_without_elements_at_first(self):
        original, converted, share = self.convert_model(EmptyAtFirst(), "x=1,512", "sr=16000")
        self.assertGreaterEqual(share, 0.95)
        inputs_of = lambda call: (values(call, 1, 512), 16000)
        for calls in (CALLS, 5):
            self.assert_same_calls(original, converted, inputs_of, calls)
            for each in (original, converted):
                each.reset_states()
        original, converted, share = self.convert_model(EmptyInAVariable(), "2,32")
        self.assertEqual(1, share)
        self.assert_same_calls(original, converted, lambda call: (values(call, 2, 32),))

    def test_attributes_that_are_set_before_others_are_read(self):
        original, converted, share = self.convert_model(Interleaved(), "1,64")
        self.assertEqual(1, share)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(1, len(report["partition"]["segments"]))
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 64),))

    def test_lists_of_states(self):
        original, converted, share = self.convert_model(Stacked(), "1,64")
        self.assertGreaterEqual(share, 0.95)
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 64),))
        for each in (original, converted):
            each.reset_states()
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 64),), 3)

    def test_list_that_each_call_makes_anew(self):
        original, converted, share = self.convert_model(Pyramid(), "1,4,16,16")
        self.assertEqual(share, 1)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(1, len(report["partition"]["segments"]))
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 4, 16, 16),), 3)

    def test_cache_that_is_written_in_place(self):
        """In a trace the result of the change is what later layers read."""
        def inputs_of(call):
            return values(call, 1, 1, 32), torch.tensor([call % Cache.LENGTH])

        for example in (None, inputs_of(0)):
            original, converted, share = self.convert_model(Cache(), "1,1,32", "1:int64", example=example)
            self.assertGreaterEqual(share, 0.95)
            self.assert_same_calls(original, converted, inputs_of, 30)

    def test_state_matters(self):
        """The second call with the same input gives something else."""
        _, converted, _ = self.convert_model(Denoiser(), "1,4,160")
        x = values(0, 1, 4, 160)
        self.assertGreater((converted(x) - converted(x)).abs().max().item(), 1e-3)


class Methods(StateTest):
    """reset_states() and its like work with the same attributes."""

    def assert_resets(self, model, inputs, inputs_of, *arguments):
        original, converted, _ = self.convert_model(model, *inputs)
        first = converted(*inputs_of(0))
        self.assert_close(original(*inputs_of(0)), first)
        self.assert_same_calls(original, converted, lambda call: inputs_of(call + 1))
        original.reset_states(*arguments)
        converted.reset_states(*arguments)
        self.assert_close(first, converted(*inputs_of(0)))
        original(*inputs_of(0))
        self.assert_same_calls(original, converted, lambda call: inputs_of(call + 1))

    def test_voice_detector(self):
        for arguments in ((), (1,)):
            self.assert_resets(VoiceDetector(), ("x=1,512", "sr=16000"), lambda call: (values(call, 1, 512), 16000),
                               *arguments)

    def test_denoiser(self):
        self.assert_resets(Denoiser(), ("1,4,160",), lambda call: (values(call, 1, 4, 160),))

    def test_separator(self):
        self.assert_resets(Separator(), ("1,16,20",), lambda call: (values(call, 1, 16, 20),))

    def test_states_that_layers_take_and_give(self):
        self.assert_resets(Handed(), ("1,10,32",), lambda call: (values(call, 1, 10, 32),))

    def test_state_of_another_size(self):
        """Is an error, as in the original."""
        _, converted, _ = self.convert_model(VoiceDetector(), "x=1,512", "sr=16000")
        converted.reset_states(3)
        with self.assertRaises(Exception):
            converted(values(0, 1, 512), 16000)

    def test_others(self):
        torch.manual_seed(0)
        path = self.folder / "model.pt"
        torch.jit.script(Counted().eval()).save(str(path))
        said = self.succeed(path, "--input", "2,64", "--nchw", "-o", self.folder / "out.pt").stderr
        self.assertIn("the method set_scale is left out: it changes the attribute scale, which forward reads as a "
                      "constant", said)
        self.assertIn("the method weighted is left out: it reads the attribute layer.weight", said)
        self.assertNotIn("helper", said)
        original, converted = load(path), load(self.folder / "out.pt")
        self.assertFalse(hasattr(converted, "set_scale") or hasattr(converted, "weighted"))
        for call in range(3):
            original(values(call, 2, 64)), converted(values(call, 2, 64))
            self.assertEqual(original.count(2.0), converted.count(2.0))
            original.note("seen"), converted.note("seen")
            self.assertEqual(original.notes(), converted.notes())


class Changes(StateTest):
    """What changes its size or dtype, and what a dict holds, has no type, and what reads it stays on the CPU."""

    def test_states_that_are_read_without_elements(self):
        for model in (Collected(), Emptied()):
            with self.subTest(model=type(model).__name__):
                original, converted, _ = self.convert_model(model, "1,64")
                self.assert_same_calls(original, converted, lambda call: (values(call, 1, 64),), 12)

    def test_growing(self):
        original, converted, share = self.convert_model(Growing(), "4,32")
        self.assertLess(share or 0, 0.95)
        self.assert_same_calls(original, converted, lambda call: (values(call, 4, 32),), 10)

    def test_lists(self):
        original, converted, _ = self.convert_model(StackedOfAnySize(), "1,64")
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 64),), 8)

    def test_dicts(self):
        original, converted, share = self.convert_model(Keyed(), "1,64")
        self.assertEqual(share, 1)
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 64),), 10)

    def test_tuples_that_branches_give(self):
        original, converted, _ = self.convert_model(Pairs(), "1,64")
        products = json.loads((self.folder / "report.json").read_text())["partition"]["products"]
        self.assertEqual((3, 2), (products["all"], products["nnapi"]))
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 64),), 10)

    def test_widening(self):
        original, converted, share = self.convert_model(Widening(), "1,64")
        self.assertLess(share or 0, 0.95)
        self.assert_same_calls(original, converted, lambda call: (values(call, 1, 64),), 10)


if __name__ == "__main__":
    unittest.main()
