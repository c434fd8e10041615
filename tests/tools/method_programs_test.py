# SPDX-License-Identifier: BSD-3-Clause
"""Files of several methods that the shim runs without PyTorch: methods by name, and the state that they share."""

import json
import unittest
import zipfile
from typing import Tuple

import torch
from torch import nn

from method_models import Coder, Pictures, Stream
from methods_test import CODER, PICTURES, STREAM, values
from shim_process import ShimProcessTest


class Deep(nn.Module):
    """forward and encode share layers; other has one of its own."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                                    nn.Conv2d(64, 64, 3, padding=1))
        self.head, self.own = nn.Conv2d(64, 8, 1), nn.Linear(64, 64)

    def forward(self, x):
        return self.head(self.layers(x))

    @torch.jit.export
    def encode(self, x):
        return self.layers(x).mean([2, 3])

    @torch.jit.export
    def other(self, y):
        return torch.relu(self.own(y))


class Scores(nn.Module):
    """encode runs in parts, with results of sizes that depend on values; codes takes a quantised tensor."""

    def __init__(self):
        super().__init__()
        self.layer, self.out = nn.Linear(16, 16), nn.Linear(16, 4)

    def forward(self, x):
        return self.out(x)

    @torch.jit.export
    def encode(self, x):
        rows = torch.relu(self.layer(x))
        return self.out(rows[rows.mean(1) > rows.mean()])

    @torch.jit.export
    def codes(self, x):
        return torch.relu(x)


class Sizes(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    @torch.jit.export
    def rows(self, x) -> Tuple[torch.Tensor, int]:
        return self.layer(x), x.size(0)


class MethodPrograms(ShimProcessTest):
    def convert_methods(self, make, *arguments):
        """The original and the file."""
        model, out = self.script(make), self.folder / "out.pt"
        self.said = self.succeed(model, *arguments, "--runtime", "shim", "-o", out)
        return torch.jit.load(str(model)), out

    def assert_calls_agree(self, original, out, calls):
        """`calls` are names of methods and their arguments, called one after the other in one process."""
        names = tuple(f"{i}={method}" for i, (method, _) in enumerate(calls))
        found = self.results(out, [{name: torch.as_tensor(value) for name, value in arguments.items()}
                                   for _, arguments in calls], names)
        for i, (method, arguments) in enumerate(calls):
            with torch.no_grad():
                expected = getattr(original, method)(**arguments)
            tensors = expected if isinstance(expected, tuple) else () if expected is None else (expected,)
            for number, tensor in enumerate(tensors):
                self.assertGreater(tensor.std(), 1e-3)
                self.assert_same(tensor, found[f"{i}/[{number}]" if isinstance(expected, tuple) else f"{i}/"])

    def test_methods_by_name(self):
        original, out = self.convert_methods(Coder, *CODER)
        self.assert_calls_agree(original, out, [("encode", {"x": values(1, 2, 64)}),
                                                ("decode", {"code": values(2, 2, 64), "strength": 1.5}),
                                                ("encode", {"x": values(3, 2, 64)})])

    def test_layouts_and_results(self):
        for layout in ("--nhwc", "--nchw"):
            with self.subTest(layout):
                original, out = self.convert_methods(Pictures, *PICTURES, layout)
                self.assert_calls_agree(original, out, [("encode", {"picture": values(1, 1, 3, 16, 16)}),
                                                        ("decode", {"code": values(2, 1, 8, 16, 16)})])

    def test_methods_share_the_state(self):
        original, out = self.convert_methods(Stream, *STREAM)
        x, other = ({"x": values(seed, 1, 32)} for seed in (1, 2))
        self.assert_calls_agree(original, out, [
            ("step", x), ("peek", x), ("step", other), ("set_gain", {"gain": 3.0}), ("peek", other), ("step", x),
            ("reset_states", {}), ("peek", x), ("step", other)])

    def test_methods_share_weights(self):
        weights = sum(parameter.numel() for parameter in Deep().parameters())
        for options, bytes_of_weight, tolerance in (((), 4, 0), (("--int8-weights",), 1, 0.05),
                                                    (("--fp16-weights",), 2, 0.01)):
            with self.subTest(options):
                original, out = self.convert_methods(
                    Deep, "--method", "encode", "--method", "other", "--method", "forward", "--input", "x=1,3,12,12",
                    "--input", "y=2,64", "--nhwc", "--verify", *options)
                self.assertLess(out.stat().st_size, 1.3 * bytes_of_weight * weights + 40000)
                with zipfile.ZipFile(out) as archive:
                    index, = [archive.read(name).decode() for name in archive.namelist() if name.endswith("shim.index")]
                self.assertEqual(["data/1", "data/0", "data/3", "data/2", "data/4", "data/0"], index.split()[4:])
                calls = [("forward", {"x": values(1, 1, 3, 12, 12)}), ("other", {"y": values(2, 2, 64)}),
                         ("encode", {"x": values(3, 1, 3, 12, 12)})]
                self.succeed("verify", self.folder / "model.pt", out, "--without-torch",
                             *(("--tolerance", str(tolerance)) if tolerance else ()))
                if not tolerance:
                    self.assert_calls_agree(original, out, calls)

    def test_in_parts(self):
        original, out = self.convert_methods(Scores, "--method", "encode", "--method", "forward", "--input", "x=9,16",
                                             "--min-segment-macs", "0")
        self.assert_calls_agree(original, out, [("encode", {"x": values(1, 9, 16)}), ("forward", {"x": values(2, 9, 16)}),
                                                ("encode", {"x": values(3, 9, 16)})])

    def test_others(self):
        """They stay as they are; a program has those without large weights."""
        original, out = self.convert_methods(Coder, *CODER)
        self.assert_calls_agree(original, out, [("forward", {"x": values(1, 2, 64)}), ("encode", {"x": values(2, 2, 64)})])
        _, out = self.convert_methods(Deep, "--method", "other", "--input", "y=2,64")
        self.assertIn("the file lacks the method encode, which has weights; --method encode converts it", self.said.stderr)
        done = self.shim(out, [{"x": values(1, 1, 3, 12, 12)}])
        self.assertEqual(1, done.returncode)
        self.assertIn('method "forward" was asked for, the model has other', done.stderr)

    def test_state_of_no_named_method(self):
        original, out = self.convert_methods(Stream, "--method", "step", "--input", "x=1,32", "--min-segment-macs", "0")
        x = {"x": values(1, 1, 32)}
        self.assert_calls_agree(original, out, [("step", x), ("set_gain", {"gain": 3.0}), ("peek", x), ("reset_states", {}),
                                                ("peek", x), ("step", x)])

    def test_quantised_tensors_need_pytorch(self):
        self.convert_methods(Scores, "--method", "codes", "--method", "encode", "--input", "encode.x=9,16", "--input",
                             "codes.x=9,16:quint8:0.1:3", "--min-segment-macs", "0", "--needs-pytorch")
        self.assertIn("needs PyTorch on the phone: programs of the shim can't say", self.said.stderr)
        self.assertIn("method codes takes quantised tensors", self.said.stderr)

    def test_verified_with_sizes_as_results(self):
        self.convert_methods(Sizes, "--method", "rows", "--input", "x=3,16")
        done = self.succeed("verify", self.folder / "model.pt", self.folder / "out.pt", "--without-torch")
        self.assertIn("run without PyTorch", done.stdout)

    def test_verified_and_inspected(self):
        _, out = self.convert_methods(Stream, *STREAM)
        done = self.succeed("verify", self.folder / "model.pt", out, "--without-torch")
        self.assertEqual(2, done.stdout.count("run without PyTorch"), done.stdout)
        self.assertIn("peek(r0 x: Tensor) -> Tensor", self.succeed("inspect", out).stdout)
        self.assertIn("reset_states()", json.loads(self.succeed("inspect", out, "--format", "json").stdout)["program"])


if __name__ == "__main__":
    unittest.main()
