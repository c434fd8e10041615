# SPDX-License-Identifier: BSD-3-Clause
"""Models that NNAPI can't run whole: segments go to NNAPI, the rest stays TorchScript, and results are the
original's."""

import contextlib
import json
import os
import tempfile
import unittest

import jsonschema
import torch
from torch import nn

from cli import ROOT, CliTest, run
from stock_torch import StockTorchTest, call, images, load, load_lite

SCHEMA = json.loads((ROOT / "schemas" / "report.schema.json").read_text())


class Between(nn.Module):
    """Convolutions around an operation that NNAPI doesn't have, and past it."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 16, 3, padding=1)
        self.last = nn.Conv2d(16, 8, 3)

    def forward(self, picture):
        features = torch.relu(self.first(picture))
        lower = torch.nextafter(features, torch.zeros(()))
        return self.last(self.second(torch.tanh(lower * 0.01)) + features)


class Branches(nn.Module):
    """Two inputs, several results in a tree, a list of tensors, an integer result, a convolution of float64."""

    def __init__(self):
        super().__init__()
        self.flat = nn.Conv2d(3, 16, 3, padding=1)
        self.mixed = nn.Conv2d(16, 16, 3, padding=1)
        self.solid = nn.ConvTranspose3d(3, 4, 3).double()

    def forward(self, picture, volume):
        features = self.flat(picture)
        left, right = torch.split(features, 8, 1)
        highest = torch.nextafter(left, torch.zeros_like(left))
        solid = self.solid(volume.double()).float()
        return self.mixed(torch.cat([highest, right], 1)), (solid, torch.sort(features, 3)[1])


class Small(nn.Module):
    """Two segments that save less than a call costs, if it multiplies."""

    def __init__(self, multiplies=True):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3) if multiplies else nn.Sigmoid()

    def forward(self, picture):
        return torch.tanh(torch.nextafter(self.first(picture), torch.zeros(())))


class Pieces(nn.Module):
    """Two products of few multiply-adds around an operation that NNAPI doesn't have."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.second(torch.nextafter(self.first(x), torch.zeros(())))


class Scaled(nn.Module):
    """Nothing that multiplies matrices, and an argument for which NNAPI has no type."""

    def forward(self, x, factor: float):
        return torch.tanh(x * 2) + 1, factor


class Effects(nn.Module):
    """Printing and changes in place keep their order."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3)
        self.second = nn.Conv2d(8, 8, 3)

    def forward(self, picture):
        x = self.first(picture)
        upper = x[:, :4]
        print("before the change")
        upper += 1
        print("after the change")
        return self.second(x) + torch.nextafter(upper, torch.zeros_like(upper)).mean()


class Branching(nn.Module):
    """Scripted: which way is taken depends on values."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.other = nn.Conv2d(16, 16, 3, padding=1)
        self.last = nn.Conv2d(16, 4, 3)

    def forward(self, picture):
        x = torch.relu(self.first(picture))
        if bool(x.mean() > 0.4):
            x = self.other(x) * 2
        i = 0
        while bool(x.abs().max() > 1.0) and i < 5:
            x = x * 0.7
            i += 1
        return self.last(x)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count += 1
        return x * self.count


class Counting(nn.Module):
    """Keeps state between calls."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3)
        self.layer = Counter()

    def forward(self, picture):
        return self.layer(self.first(picture))


@contextlib.contextmanager
def captured_output():
    """Fills a list with the lines that TorchScript prints, which go past Python's sys.stdout."""
    printed, kept = [], os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            yield printed
        finally:
            os.dup2(kept, 1)
            os.close(kept)
            file.seek(0)
            printed.extend(file.read().decode().splitlines())


class Partition(CliTest, StockTorchTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.report = self.folder / "report.json"

    def save(self, model, *inputs, script=False):
        path = self.folder / "model.pt"
        module = torch.jit.script(model.eval()) if script else torch.jit.trace(model.eval(), inputs)
        module.save(str(path))
        return path

    def partitioned(self, path, *arguments, out="out.pt"):
        """Converts with verification; gives the result and the report's part on segments."""
        result = self.convert(path, *arguments, "--verify", "--report", self.report, out=out)
        report = json.loads(self.report.read_text())
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        self.assertEqual(report["operation_count"],
                         sum(part["operation_count"] for part in report["partition"]["segments"]))
        return result, report["partition"]

    between = ("--input", "1,3,24,24")


class Traced(Partition):
    def test_around_an_operation(self):
        path = self.save(Between(), images(1, 3, 24, 24))
        samples = [[images(1, 3, 24, 24, seed=seed)] for seed in range(3)]
        for arguments in (["--nhwc"], ["--nchw"], ["--nhwc", "--runtime", "shim", "--needs-pytorch"]):
            with self.subTest(arguments=arguments):
                out, partition = self.partitioned(path, *self.between, *arguments)
                self.assertEqual([1, 5], [part["operation_count"] for part in partition["segments"]])
                self.assertEqual(1, partition["mac_share"])
                self.assertEqual({"aten::nextafter"}, {node["op"] for node in partition["cpu"]})
                if "shim" not in arguments:
                    self.assert_agree(load(path), load(out), samples)

    def test_branches(self):
        path = self.save(Branches(), images(1, 3, 24, 24), torch.randn(1, 3, 6, 6, 6))
        out, partition = self.partitioned(path, "--input", "1,3,24,24", "--input", "1,3,6,6,6", "--nhwc",
                                          "--min-segment-macs", "0")
        self.assertEqual(2, len(partition["segments"]))
        self.assertLess(partition["mac_share"], 1)
        self.assert_agree(load(path), load(out), [[images(1, 3, 24, 24, seed=5), torch.randn(1, 3, 6, 6, 6)]])

    def test_lite(self):
        path = self.save(Between(), images(1, 3, 24, 24))
        out, _ = self.partitioned(path, *self.between, "--nhwc", out="out.ptl")
        self.assert_agree(load(path), load_lite(out), [[images(1, 3, 24, 24, seed=5)]])

    def test_saved_again(self):
        path = self.save(Between(), images(1, 3, 24, 24))
        out, _ = self.partitioned(path, *self.between, "--nhwc")
        again = self.folder / "again.pt"
        load(out).save(str(again))
        self.assert_agree(load(path), load(again), [[images(1, 3, 24, 24, seed=5)]])

    def test_same_bytes(self):
        path = self.save(Between(), images(1, 3, 24, 24))
        out, _ = self.partitioned(path, *self.between, "--nhwc")
        first = out.read_bytes()
        self.assertEqual(first, self.partitioned(path, *self.between, "--nhwc")[0].read_bytes())

    def test_arguments_by_name_and_their_checks(self):
        path = self.save(Between(), images(1, 3, 24, 24))
        out, _ = self.partitioned(path, *self.between, "--nhwc")
        module = load(out)
        picture = images(1, 3, 24, 24, seed=5)
        self.assertTrue(torch.equal(module(picture), module(picture=picture)))
        with self.assertRaisesRegex(Exception, r"input picture: shape \[1, 3, 20, 20\] found, \[1, 3, 24, 24\] needed"):
            module(images(1, 3, 20, 20))
        with self.assertRaisesRegex(Exception, "input picture: dtype number 7 found, 6 .float32. needed"):
            module(picture.double())


class Scripted(Partition):
    def test_control_flow(self):
        model = Branching()
        path = self.save(model, script=True)
        out, partition = self.partitioned(path, *self.between, "--nhwc")
        self.assertEqual([3], [part["operation_count"] for part in partition["segments"]][:1])  # the condition, too
        ways = set()
        for scale in (0.1, 1, 30):
            picture = scale * images(1, 3, 24, 24, seed=5)
            ways.add(bool(torch.relu(model.first(picture)).mean() > 0.4))
            with self.subTest(scale=scale):
                self.assert_agree(load(path), load(out), [[picture]])
        self.assertEqual({False, True}, ways)

    def test_order_of_effects(self):
        path = self.save(Effects(), script=True)
        out, _ = self.partitioned(path, *self.between, "--nhwc", "--min-segment-macs", "0")
        with captured_output() as printed:
            self.assert_agree(load(path), load(out), [[images(1, 3, 24, 24, seed=5)]])
        self.assertEqual(2 * ["before the change", "after the change"], printed)

    def test_state_is_kept(self):
        path = self.save(Counting(), script=True)
        out, _ = self.partitioned(path, *self.between, "--nhwc")
        self.assert_agree(load(path), load(out), 3 * [[images(1, 3, 24, 24, seed=5)]])


class Limits(Partition):
    def setUp(self):
        super().setUp()
        self.path = self.save(Between(), images(1, 3, 24, 24))

    def test_small_segments_stay(self):
        _, partition = self.partitioned(self.path, *self.between, "--nhwc", "--min-segment-macs", "1000000")
        self.assertEqual(1, len(partition["segments"]))
        small = [node for node in partition["cpu"] if "--min-segment-macs" in node["found"]]
        self.assertEqual(["aten::_convolution", "aten::relu"], sorted(node["op"] for node in small))
        self.assertTrue(0 < partition["mac_share"] < 1)

    def test_most_valuable_segments(self):
        _, partition = self.partitioned(self.path, *self.between, "--nhwc", "--max-segments", "1")
        self.assertEqual([5], [part["operation_count"] for part in partition["segments"]])

    def test_one_segment_of_a_small_model_goes(self):
        path = self.save(Small(), images(1, 3, 8, 8))
        out = self.folder / "out.pt"
        said = self.succeed(path, "--input", "1,3,8,8", "--nhwc", "-o", out).stderr
        for fragment in ("probably slower here than the CPU", "--min-segment-macs 100000 refuses", "1 segment with"):
            self.assertIn(fragment, said)
        self.assert_agree(load(path), load(out), [[images(1, 3, 8, 8, seed=5)]])
        self.fail_with(1, path, "--input", "1,3,8,8", "--nhwc", "--min-segment-macs", "100000", "-o", out,
                       needed=["no segment is worth a call", "--min-segment-macs 0"])

    def test_all_that_multiplies_goes(self):
        """A small model that someone converts to try it."""
        path, out = self.save(Pieces(), torch.randn(3, 4)), self.folder / "out.pt"
        said = self.succeed(path, "--input", "3,4", "-o", out).stderr
        for fragment in ("probably slower here than the CPU", "2 segments with 100.0 %"):
            self.assertIn(fragment, said)
        self.assert_agree(load(path), load(out), [[torch.randn(3, 4)]])

    def test_all_goes_where_nothing_multiplies(self):
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(Scaled()).save(str(path))
        self.assertIn("probably slower here than the CPU", self.succeed(path, "--input", "3,4", "-o", out).stderr)
        x = torch.randn(3, 4)
        (expected, one), (found, other) = load(path)(x, 2.0), load(out)(x, 2.0)
        self.assert_close(expected, found)
        self.assertEqual(one, other)
        self.fail_with(1, path, "--input", "3,4", "--min-segment-macs", "100000", "-o", out,
                       needed=["no segment is worth a call"])

    def test_no_segment_that_multiplies(self):
        path = self.save(Small(multiplies=False), images(1, 3, 8, 8))
        self.fail_with(1, path, "--input", "1,3,8,8", "--nhwc", "-o", self.folder / "out.pt",
                       needed=["no segment is worth a call", "--min-segment-macs 0"])

    def test_none_is_worth_a_call(self):
        out = self.folder / "out.pt"
        self.fail_with(1, self.path, *self.between, "--nhwc", "--min-segment-macs", "1000000000", "-o", out,
                       needed=["no segment is worth a call", "--min-segment-macs 0"])
        self.assertFalse(out.exists())

    def test_refused_where_that_is_asked_for(self):
        self.fail_with(1, self.path, *self.between, "--nhwc", "--fallback", "none", "-o", self.folder / "out.pt",
                       needed=["aten::nextafter", "partition_test.py"])

    def test_open_sizes(self):
        out, _ = self.partitioned(self.path, "--nhwc", "--input", "1,3,?,?")
        original, converted = load(self.path), load(out)
        for height, width in ((32, 32), (17, 40), (32, 32), (9, 8)):
            picture = images(1, 3, height, width)
            self.assert_close(call(original, picture), call(converted, picture))

    def test_warning_tells_all(self):
        result = run(self.path, *self.between, "--nhwc", "-o", self.folder / "out.pt")
        for fragment in ("2 segments with 100.0 % of the multiply-adds", "aten::nextafter", "partition_test.py:"):
            self.assertIn(fragment, result.stderr)

    def test_inspect(self):
        out, partition = self.partitioned(self.path, *self.between, "--nhwc")
        shown = json.loads(self.succeed("inspect", out, "--format", "json").stdout)
        self.assertEqual([part["operation_count"] for part in partition["segments"]],
                         [part["operation_count"] for part in shown["segments"]])
        self.assertIn("segment 1", self.succeed("inspect", out).stdout)


if __name__ == "__main__":
    unittest.main()
