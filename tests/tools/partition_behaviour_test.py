# SPDX-License-Identifier: BSD-3-Clause
"""Values, errors, prints, and what is kept from call to call: a partitioned model has its original's."""

import unittest

import torch

from behaviour_models import ALL, MODELS
from cli import LIBRARIES
from partition_blocks_test import SAMPLES, Blocks
from partition_test import captured_output
from stock_torch import FLOAT_TOLERANCE, call, load

torch.ops.load_library(str(LIBRARIES / "libnnapi_shim_torch.so"))


class Behaviour(Blocks):
    models = MODELS

    def outcome(self, module, sample):
        """Returns the result, or the last line of the error, and the printed text."""
        with captured_output() as lines:
            try:
                result = call(module, sample)
            except Exception as error:
                result = str(error).strip().splitlines()[-1]
        return result, lines

    def assert_same(self, expected, found):
        self.assertIs(type(expected), type(found))
        if isinstance(expected, torch.Tensor):
            self.assertEqual((expected.shape, expected.dtype), (found.shape, found.dtype))
            spread = max((expected.max() - expected.min()).item(), 1e-3)
            self.assertLessEqual((expected - found).abs().max().item(), FLOAT_TOLERANCE * spread)
        elif isinstance(expected, dict):
            self.assertEqual(list(expected), list(found))
            self.assert_same(list(expected.values()), list(found.values()))
        elif isinstance(expected, (list, tuple)):
            self.assertEqual(len(expected), len(found))
            for one, other in zip(expected, found):
                self.assert_same(one, other)
        else:
            self.assertEqual(expected, found)

    def check_behaviour(self, name, *options):
        self.save(name)
        partition = self.partition("--min-segment-macs", "0", *options)
        self.assertGreater(len(partition["segments"]), 0)
        original, converted = load(self.path), load(self.out)
        for sample in (*SAMPLES, *SAMPLES[::-1]):
            expected, found = self.outcome(original, sample), self.outcome(converted, sample)
            self.assert_same(expected, found)


class All(Behaviour):
    def test_state_between_layers(self):
        self.save("StateBetween")
        self.assertEqual(1, len(self.partition("--min-segment-macs", "0")["segments"]))

    def test_rows_changed_in_place(self):
        self.save("RowsChangedInPlace")
        self.assertEqual(1, self.partition("--min-segment-macs", "0")["mac_share"])

    def test_models(self):
        for model in ALL:
            for options in ([], ["--nhwc"], ["--nhwc", "--runtime", "shim", "--needs-pytorch"]):
                with self.subTest(model=model.__name__, options=options):
                    self.check_behaviour(model.__name__, *options)


class ElementsOfList(Behaviour):
    def test_change_is_seen(self):
        """Eager PyTorch is the reference: LibTorch's optimiser loses changes of a list's elements."""
        self.save("ElementsChanged")
        self.partition("--min-segment-macs", "0")
        torch.manual_seed(0)
        original, converted = MODELS["ElementsChanged"]().eval(), load(self.out)
        original.load_state_dict(load(self.path).state_dict())
        for sample in (*SAMPLES, *SAMPLES[::-1]):
            self.assert_same(call(original, sample), call(converted, sample))


class ListInTuple(Behaviour):
    def test_change_is_returned(self):
        self.save("ChangesInTuple")
        self.succeed(self.path, "--input", "pair[0]=1,4,8,8", "--input", "pair[1][0]=1,4,8,8",
                     "--min-segment-macs", "0", "-o", self.out)
        for sample in SAMPLES:
            results = [load(path)((sample, [sample + 1])) for path in (self.path, self.out)]
            self.assertEqual(2, len(results[1][1][1]))
            self.assert_same(*results)


class OrderOfKeys(Behaviour):
    def test_other_order_is_an_error(self):
        """The loop over the entries was unrolled in one order."""
        self.save("ReadsInOrder")
        self.succeed(self.path, "--input", "entries[a]=1,4,8,8", "--input", "entries[b]=1,4,8,8", "--min-segment-macs",
                     "0", "-o", self.out)
        original, converted = load(self.path), load(self.out)
        entries = {"a": SAMPLES[0], "b": SAMPLES[1]}
        self.assert_same(original(entries), converted(entries))
        with self.assertRaisesRegex(Exception, "input entries: keys in another order found than a, b"):
            converted({"b": SAMPLES[1], "a": SAMPLES[0]})
        with self.assertRaisesRegex(Exception, "input entries: no key b found"):
            converted({"a": SAMPLES[0], "c": SAMPLES[1]})


if __name__ == "__main__":
    unittest.main()
