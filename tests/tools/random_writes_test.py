# SPDX-License-Identifier: BSD-3-Clause
"""Modules that change tensors in place, by way of views and containers: each converts, whole and in parts, to what Python
itself gives, or is refused. LibTorch's own optimiser gets some of them wrong, so that eager PyTorch is the reference."""

import importlib.util
import unittest
from typing import List, Tuple

import torch
from torch.jit.mobile import _load_for_lite_interpreter

import random_writes
from cli import CliTest, run
from stock_torch import FLOAT_TOLERANCE, call, load, tensors

SAMPLE = [torch.randn(*shape, generator=torch.Generator().manual_seed(7 + i))
          for i, shape in enumerate(random_writes.SHAPES)]
WAYS = {"whole": ("--fallback", "none"), "parts": ("--min-segment-macs", "0")}
CALLS = 3  # LibTorch optimises what it has run before


def difference(expected, found) -> str:
    expected, found = tensors(expected), tensors(found)
    if [tensor.shape for tensor in expected] != [tensor.shape for tensor in found]:
        return "other shapes"
    for number, (one, other) in enumerate(zip(expected, found)):
        spread = max((one.max() - one.min()).item(), 1e-3)
        error = (one - other).abs().max().item()
        if not error <= FLOAT_TOLERANCE * spread:
            return f"output {number}: off by {error}, of a range of {spread}"
    return ""


class WritesTest(CliTest):
    def net(self, source: str) -> torch.nn.Module:
        path = self.folder / "net.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location("net", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Net().eval()

    def save(self, source: str) -> Tuple[torch.Tensor, ...]:
        """Returns Python's results; nothing if TorchScript understands the source differently from Python."""
        net = self.net(source)
        expected = call(net, *SAMPLE)
        with torch.no_grad():
            scripted = torch.jit.script(net)
            scripted.save(str(self.folder / "model.pt"))
            scripted._save_for_lite_interpreter(str(self.folder / "plain.ptl"))
        plain = _load_for_lite_interpreter(str(self.folder / "plain.ptl"))
        return None if difference(expected, call(plain, *SAMPLE)) else expected

    def outcome(self, source: str, way: str) -> str:
        try:
            expected = self.save(source)
        except RuntimeError:  # TorchScript knows less than Python
            return "skipped"
        return "skipped" if expected is None else self.converted(expected, way)

    def converted(self, expected, way: str) -> str:
        out = self.folder / "out.pt"
        shapes = [part for tensor in SAMPLE for part in ("--input", ",".join(map(str, tensor.shape)))]
        result = run(self.folder / "model.pt", *shapes, "--nchw", *WAYS[way], "-o", out)
        if result.code == 1:
            return "refused"
        self.assertEqual(0, result.code, str(result))
        module = load(out)
        for _ in range(CALLS):
            self.assertEqual("", difference(expected, call(module, *SAMPLE)), "\n" + str(result))
        return "right"


def with_cpu_operator(source: str) -> str:
    return source.replace("x = x * 1.5", "x = torch.special.airy_ai(x * 1.5)")


class Random(WritesTest):
    def check(self, numbers, steps: int, way: str, least: int) -> None:
        outcomes: List[str] = []
        for number in numbers:
            source = random_writes.source_of(number, steps)
            with self.subTest(number=number, way=way):
                outcomes.append(self.outcome(source if way == "whole" else with_cpu_operator(source), way))
        self.assertGreaterEqual(outcomes.count("right"), least, outcomes)

    def test_whole(self):
        self.check(range(30), 5, "whole", 8)

    def test_parts(self):
        self.check(range(100, 115), 7, "parts", 8)


def source_with(*lines: str) -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return (f"{random_writes.IMPORTS}from random_writes import Layers\n\n\n"
            f"class Net(Layers):\n    def forward(self, x, y):\n{body}")


class Chosen(WritesTest):
    def check(self, expected: str, *lines: str, ways=WAYS) -> None:
        for way in ways:
            self.assertEqual(expected, self.outcome(source_with(*lines), way), f"{way}: {lines}")

    def test_elements_of_a_list(self):
        self.check("right", "parts = [self.layer(x), self.layer(y)]", "for part in parts:", "    part += 1",
                   "parts[1][0].mul_(2)", "joined = torch.tanh(torch.cat(parts, 1)) * 3", "for part in parts:",
                   "    part += 1", "return joined, torch.cat(parts, 1)")

    def test_tuple_and_dict(self):
        self.check("right", "a, b = x * 2, y * 2", "pair, by_name = (a, b), {'a': a, 'b': b}", "a += 1",
                   "first = pair[0] * 3", "b *= 2", "second = by_name['b'] - 1", "by_name['a'].mul_(3)",
                   "return first, second, pair[0] + pair[1]")

    def test_read_before_and_after(self):
        self.check("right", "a = self.layer(x)", "parts = [a, a]", "before = torch.cat(parts, 1)", "parts[0].add_(1)",
                   "after = torch.cat(parts, 1)", "return before, after")

    def test_dropout_is_no_copy(self):
        self.check("right", "a = self.layer(x)", "b = self.dropout(a)", "a += 1", "return b * 2, x + y")

    def test_copied_source_stays(self):
        self.check("right", "a = x * 2", "b = y * 2", "a.copy_(b)", "c = a * 2", "b += 1", "return a + 0, b + 0, c")

    def test_type_as_may_give_itself(self):
        self.check("right", "a = self.layer(x)", "b = a.type_as(y)", "a += 1", "return b * 2, a * 3",
                   ways=["parts"])

    def test_other_shape_under_one_name(self):
        self.check("right", "a = self.layer(x)", "b = a.unsqueeze(-1)", "a.swapaxes_(0, 1)", "a += 1",
                   "return a + 0, b + 0")

    def test_hidden_aliases_are_refused(self):
        self.check("refused", "a = self.layer(x)", "b = torch.atleast_1d(a)", "a += 1", "return b * 2, a * 3")
        self.check("refused", "a = self.layer(x)", "b = torch.broadcast_tensors(a, y)", "a += 1",
                   "return b[0] * 2, a * 3")

    def test_hidden_aliases_of_views_are_refused(self):
        self.check("refused", "a = self.layer(x)", "b = torch.atleast_2d(a.flatten())", "a.mul_(2)",
                   "return b + 0, a * 3")
        self.check("refused", "a = self.layer(x)", "parts = [a, y]", "b = torch.atleast_2d(parts[0])", "a.mul_(2)",
                   "return b + 0, a * 3")

    def test_list_that_grows_changes_no_tensor(self):
        self.check("right", "a = self.layer(x)", "b = torch.atleast_1d(a)", "parts = [b]", "parts.append(y)",
                   "parts.append(b)", "c = y * 2", "c += 1", "return torch.cat(parts, 1), c + 0")

    def test_shape_of_what_a_tuple_holds(self):
        self.assertIn(self.outcome(source_with("pair = (self.layer(x), y * 2)", "a, b = pair", "a.unsqueeze_(0)",
                                               "return a * 2, b + 1"), "parts"), ("right", "refused"))

    def test_other_shape_under_two_names_is_refused(self):
        lines = ("a = self.layer(x)", "b = a.contiguous()", "a.swapaxes_({}, {})", "return a + 0, b + 0")
        self.check("refused", *[line.format(0, 1) for line in lines])
        self.check("refused", *[line.format(0, 0) for line in lines], ways=["whole"])
        self.check("right", *[line.format(0, 0) for line in lines], ways=["parts"])  # the same shape

    def test_out_of_another_shape_is_refused(self):
        self.check("refused", "a = self.layer(x)", "torch.cat([x, y], 0, out=a)", "return a + 0, x + y")


if __name__ == "__main__":
    unittest.main()
