# SPDX-License-Identifier: BSD-3-Clause
"""--input NAME=VALUE binds an argument of forward: branches and sizes that depend on it are decided, and other values are
errors when the converted module runs."""

import json
import unittest
from typing import Optional, Tuple

import torch
import torch.utils.bundled_inputs
from torch import nn

from cli import CliTest, run
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


class Lengths(nn.Module):
    """Reads as many frames as the longest of `lengths`, and changes a copy of its own."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 6, 3, padding=1)
        self.last = nn.Linear(6, 3)

    def forward(self, x, lengths: torch.Tensor, mask: Optional[torch.Tensor] = None):
        longest = int(lengths.max().item())
        x = x[:, :, :longest]
        frames = torch.arange(longest).unsqueeze(0) < lengths.unsqueeze(1)
        x = torch.relu(self.conv(x)) * frames.unsqueeze(1)
        if mask is not None:
            x = x * mask
        lengths = lengths + 1
        lengths += 1
        return self.last(x.transpose(1, 2)), lengths


class State(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x, state: Tuple[torch.Tensor, int, Optional[torch.Tensor]]):
        hidden, count, mask = state
        for _ in range(count):
            x = torch.tanh(self.linear(x) + hidden)
        return x if mask is None else x * mask


class Writes(nn.Module):
    def forward(self, x, steps: torch.Tensor):
        steps += 1
        return x * steps, torch.tanh(x)


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
            self.assertNotIn("partition", report)  # NNAPI runs the whole model
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

    def test_part_of_an_argument(self):
        self.save(State)
        converted, _ = self.convert_bound("x=2,8", "state[0]=2,8", "state[1]=3", 'state[2]=None')
        state = (torch.randn(2, 8), 3, None)
        self.assert_close(self.original(torch.ones(2, 8), state), converted(torch.ones(2, 8), state))
        with self.assertRaisesRegex(Exception, r"input state\[1\]: 2 found, 3 needed"):
            converted(torch.ones(2, 8), (state[0], 2, None))

    def test_without_a_value(self):
        self.save(Detector)
        result = self.succeed(self.model, "--input", "1,512", "-o", self.folder / "out.pt")
        self.assertIn("bind it to a value with --input sr=VALUE", result.stderr)
        self.fail_with(2, self.model, "--input", "1,512", "--input", "1", "-o", self.folder / "out.pt",
                       needed=["sr is int; bind it to a value with --input sr=VALUE"])


class Tensors(BoundTest):
    x = torch.randn(2, 4, 20, generator=torch.Generator().manual_seed(5))
    shape = "x=2,4,20"
    lengths = torch.tensor([12, 16])

    def test_sizes_are_known(self):
        self.save(Lengths)
        converted, report = self.convert_bound(self.shape, "lengths=[12, 16]")
        self.assertEqual([], report["partition"]["cpu"])
        results = [module(self.x, self.lengths) for module in (self.original, converted)]
        self.assertEqual((2, 16, 3), results[1][0].shape)
        self.assertGreater(results[1][0].std(), 0.01)
        self.assert_close(results[0][0], results[1][0])
        self.assertEqual([14, 18], results[1][1].tolist())
        signatures = [str(module.forward.schema).partition(",")[2] for module in (self.original, converted)]
        self.assertEqual(*signatures)

    def test_traced(self):
        self.save(Lengths)
        self.original = torch.jit.trace(Lengths().eval(), (self.x, self.lengths))
        self.original.save(str(self.model))
        converted, _ = self.convert_bound(self.shape, "lengths=[12,16]:int64")
        self.assert_close(self.original(self.x, self.lengths)[0], converted(self.x, self.lengths)[0])

    def test_the_way_is_named(self):
        self.save(Lengths)
        result = self.succeed(self.model, "--input", self.shape, "--input", "lengths=2:int64", "-o",
                              self.folder / "out.pt", "--min-segment-macs", "0")
        self.assertIn("bind them with --input 'lengths=[VALUE,...]'", result.stderr)
        result = self.succeed(self.model, "--input", self.shape, "--input", "lengths=[2,3]", "-o",
                              self.folder / "out.pt")
        self.assertNotIn("bind them", result.stderr)

    def test_other_values(self):
        self.save(Lengths)
        converted, _ = self.convert_bound(self.shape, "lengths=[12,16]", "mask=[[[true]],[[false]]]")
        mask = torch.tensor([True, False]).reshape(2, 1, 1)
        self.assert_close(self.original(self.x, self.lengths, mask)[0], converted(self.x, self.lengths, mask)[0])
        for lengths, given, message in (
                (torch.tensor([12, 15]), mask, r"input lengths: values *12\n *15\n.* found, \[12, 16\] needed"),
                (self.lengths.int(), mask, r"input lengths: dtype number 3 found, 4 \(int64\) needed"),
                (torch.tensor([16]), mask, r"input lengths: shape \[1\] found, \[2\] needed"),
                (self.lengths, None, "input mask: None found, a tensor needed"),
                (self.lengths, ~mask, r"input mask: values (.|\n)* found, \[True, False\] needed")):
            with self.subTest(message), self.assertRaisesRegex(Exception, message):
                converted(self.x, lengths, given)

    def test_many_values(self):
        self.save(Lengths)
        mask = torch.arange(32).reshape(2, 1, 16) / 8
        text = json.dumps(mask.tolist())
        converted, _ = self.convert_bound(self.shape, "lengths=[12,16]", f"mask={text}")
        self.assert_close(self.original(self.x, self.lengths, mask)[0], converted(self.x, self.lengths, mask)[0])
        with self.assertRaisesRegex(Exception, "input mask: values others found, those of --input needed"):
            converted(self.x, self.lengths, mask + 1)

    def test_the_model_changes_it(self):
        """What the model writes to its argument reaches the caller, or the model is refused."""
        self.save(Writes)
        result = run(self.model, "--input", "x=2,3", "--input", "steps=[1.0]", "-o", self.folder / "out.pt")
        if result.code != 0:
            self.assertEqual(1, result.code)
            return
        steps = [torch.ones(1), torch.ones(1)]
        x = torch.rand(2, 3)
        for _ in range(2):
            expected, found = self.original(x, steps[0]), load(self.folder / "out.pt")(x, steps[1])
            self.assert_close(expected[0], found[0])
            self.assertEqual(steps[0], steps[1])
            steps = [torch.ones(1), torch.ones(1)]

    def test_verify_and_check(self):
        self.save(Lengths)
        path = self.convert(self.model, "--input", self.shape, "--input", "lengths=[12,16]")
        self.assertIn("passed", self.succeed("verify", self.model, path).stdout)
        self.succeed("check", self.model, "--input", self.shape, "--input", "lengths=[12,16]")
        for lengths, code in ((self.lengths, 0), (self.lengths - 1, 3)):
            torch.save((self.x, lengths), self.folder / "inputs.pt")
            options = ["verify", self.model, path, "--inputs", self.folder / "inputs.pt"]
            self.succeed(*options) if code == 0 else self.fail_with(code, *options)

    def test_refused_texts(self):
        self.save(Lengths)
        for text, reason in (("[12,", "no list of numbers"), ("[]", "an empty list"), ("[[1],[1,2]]", "a list of 2 elements"),
                             ("[1,[2]]", "lists and numbers stand side by side"), ("[true,1]", "beside true or false"),
                             ('["a"]', "is no number"), ("[1e99]", "float32 doesn't hold"),
                             ("[300]:uint8", "uint8 doesn't hold 300"), ("[1.5]:int64", "int64 doesn't hold 1.5"),
                             ("[9223372036854775808]", "int64 doesn't hold"), ("[1]:int5", 'dtype "int5"'),
                             ("[" * 9 + "1" + "]" * 9, "more than 8 levels"), (json.dumps([1] * 5000), "more than 4096"),
                             ("[" * 20000, "no list of numbers")):
            with self.subTest(text[:20]):
                self.fail_with(2, self.model, "--input", self.shape, "--input", f"lengths={text}", "-o",
                               self.folder / "out.pt", needed=["--input lengths=", reason])

    def test_dtype_of_the_example(self):
        self.save(Lengths)
        bundled = torch.utils.bundled_inputs.bundle_randn(2, 4, 20)
        torch.utils.bundled_inputs.bundle_inputs(self.original, [(bundled, self.lengths, None)]).save(str(self.model))
        self.fail_with(2, self.model, "--input", "lengths=[12,16]:int32", "-o", self.folder / "out.pt",
                       needed=["int32 found, int64 needed"])
        path = self.convert(self.model, "--input", "lengths=[10,16]")
        lengths = torch.tensor([10, 16])
        self.assert_close(self.original(self.x, lengths)[0], load(path)(self.x, lengths)[0])


class Kinds(BoundTest):
    x = torch.randn(2, 6, generator=torch.Generator().manual_seed(4))

    def test_all(self):
        self.save(AllKinds)
        converted, report = self.convert_bound("2,6", "scale=-2.5e-1", 'mode="tanh, both"', "flag=true", "steps=2",
                                               "mask=None")
        self.assertNotIn("partition", report)
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
                             ("x=None", 'size "None" is no whole number'),
                             ("y=None", "forward has no argument y; it takes x, scale"),
                             ("x=abc", 'size "abc" is no whole number'),
                             ("x=1x3", 'size "1x3" is no whole number'),
                             ("scale=", '"" is not a number')):
            self.fail_with(2, self.model, "--input", spec, "-o", self.folder / "out.pt", needed=[needed])
        self.fail_with(2, self.model, "--input", "flag=true", "--input", "flag=true", "-o", self.folder / "out.pt",
                       needed=["two --input for input flag"])

    def test_wrong_sizes_for_verify(self):
        self.save(AllKinds)
        self.fail_with(2, "verify", self.model, self.fixture("mlp.pt"), "--input", "1x3", needed=["is no whole number"])
        out = self.convert("mlp.pt", "--input", "1,12")
        for spec in ("input=abc", "input=1x3"):
            self.fail_with(2, "verify", self.fixture("mlp.pt"), out, "--input", spec, needed=["is no whole number"])


class PackedLayers(nn.Module):
    """Layers over packed sequences; the order of the lengths is the model's to find."""

    def __init__(self, kind=nn.LSTM, bidirectional=True):
        super().__init__()
        self.layers = kind(6, 8, 2, batch_first=True, bidirectional=bidirectional)
        self.last = nn.Linear(16 if bidirectional else 8, 5)

    def forward(self, x, lengths: torch.Tensor):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        packed, state = self.layers(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True, total_length=x.size(1))
        return self.last(padded), state


class Packed(CliTest, StockTorchTest):
    def check(self, module, lengths):
        path, out, report = (self.folder / name for name in ("model.pt", "out.pt", "report.json"))
        module.save(str(path))
        values = ",".join(map(str, lengths))
        self.succeed(path, "--input", f"x={len(lengths)},7,6", "--input", f"lengths=[{values}]", "--report", report,
                     "-o", out)
        self.assertEqual(1, json.loads(report.read_text())["partition"]["mac_share"])
        for seed in range(2):
            x = torch.randn(len(lengths), 7, 6, generator=torch.Generator().manual_seed(seed))
            self.assert_close(call(load(path), x, torch.tensor(lengths)), call(load(out), x, torch.tensor(lengths)))
        with self.assertRaisesRegex(Exception, "input lengths: "):
            load(out)(x, torch.tensor(lengths) - 1)

    def test_traced(self):
        sample = torch.randn(3, 7, 6), torch.tensor([7, 2, 4])
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            with self.subTest(kind=kind.__name__):
                torch.manual_seed(1)
                self.check(torch.jit.trace(PackedLayers(kind).eval(), sample, check_trace=False), [7, 2, 4])

    def test_scripted(self):
        torch.manual_seed(1)
        module = torch.jit.script(PackedLayers().eval())
        self.check(module, [3, 7, 1, 3])
        self.check(module, [7])
        self.check(torch.jit.script(PackedLayers(bidirectional=False).eval()), [6, 6])

    def test_unknown_lengths(self):
        path = self.folder / "model.pt"
        sample = torch.randn(3, 7, 6), torch.tensor([7, 2, 4])
        torch.jit.trace(PackedLayers().eval(), sample, check_trace=False).save(str(path))
        self.fail_with(1, path, "--input", "x=3,7,6", "--input", "lengths=3:int64", "--fallback", "none", "-o",
                       self.folder / "out.pt", needed=["--input 'lengths=[9,7,4]'"])


if __name__ == "__main__":
    unittest.main()
