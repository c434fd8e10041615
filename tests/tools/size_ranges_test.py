# SPDX-License-Identifier: BSD-3-Clause
"""--input 1,3,64..512,64..: ranges of open sizes, which each call is checked for."""

import unittest

import torch
from torch import nn

from cli import CliTest, ROOT
from stock_torch import StockTorchTest, load

torch.ops.load_library(str(ROOT / "build" / "release" / "lib" / "libnnapi_shim_torch.so"))
RUNTIMES = {"pytorch": (), "shim": ("--runtime", "shim")}


class Net(nn.Module):
    """Two layers; with `sorts`, a step between them that runs on the CPU."""

    def __init__(self, sorts: bool):
        super().__init__()
        self.first, self.second, self.sorts = nn.Conv2d(3, 8, 3, 1, 1), nn.Conv2d(8, 4, 3, 1, 1), sorts

    def forward(self, x):
        x = self.first(x).relu()
        if self.sorts:
            x = torch.sort(x, 1)[0]
        return self.second(x)


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, pair: tuple[torch.Tensor, torch.Tensor]):
        return self.layer(pair[0]) + pair[1]


class SizeRanges(CliTest, StockTorchTest):
    def saved(self, model):
        torch.manual_seed(0)
        path = self.folder / "model.pt"
        torch.jit.script(model.eval()).save(str(path))
        return path

    def converted(self, path, runtime, *options):
        out = self.folder / f"{runtime}.pt"
        result = self.succeed(path, "--nhwc", "--min-segment-macs", "0", *RUNTIMES[runtime], *options, "-o", out)
        return load(out), result

    def test_each_call_is_checked(self):
        for sorts in (False, True):
            model = Net(sorts)
            path = self.saved(model)
            for runtime in RUNTIMES:
                with self.subTest(sorts=sorts, runtime=runtime):
                    module, _ = self.converted(path, runtime, "--input", "1,3,20..40,8..", "--verify")
                    for size in ((20, 8), (40, 100), (31, 9), (20, 8)):
                        x = torch.randn(1, 3, *size)
                        self.assert_close(model(x).detach(), module(x))
                    for size, said in (((19, 8), "size 2: 19 found, 20 or more needed"),
                                       ((41, 8), "size 2: 41 found, 40 or less needed"),
                                       ((20, 7), "size 3: 7 found, 8 or more needed")):
                        with self.assertRaisesRegex(Exception, f"input x: {said}"):
                            module(torch.randn(1, 3, *size))

    def test_samples_lie_within(self):
        """Neither the self-check nor verify has to know the usual size."""
        path = self.saved(Net(False))
        for given in ("1,3,200..220,8..20", "1,3,3..9,150.."):
            for runtime in RUNTIMES:
                with self.subTest(given=given, runtime=runtime):
                    _, said = self.converted(path, runtime, "--input", given)
                    self.assertNotIn("samples", said.stderr)
                    self.succeed("verify", path, self.folder / f"{runtime}.pt")
                    shown = self.succeed("inspect", self.folder / f"{runtime}.pt").stdout
                    self.assertIn("checked at each call\n  input x: size 2:", shown)

    def test_tensors_of_a_tuple(self):
        model = Nested()
        path = self.saved(model)
        for runtime in RUNTIMES:
            with self.subTest(runtime=runtime):
                module, _ = self.converted(path, runtime, "--input", "pair[0]=2..6,8", "--input", "pair[1]=1,8")
                pair = (torch.randn(6, 8), torch.randn(1, 8))
                self.assert_close(model(pair).detach(), module(pair))
                with self.assertRaisesRegex(Exception, r"input pair\[0\]: size 0: 7 found, 6 or less needed"):
                    module((torch.randn(7, 8), torch.randn(1, 8)))

    def test_per_op_keeps_ranges_and_names(self):
        """The original is converted again, for the sizes of the file."""
        path = self.saved(Net(False))
        for given in ("1,3,150..,7..9", "1,3,32*n,n"):
            out = self.folder / "out.pt"
            self.succeed(path, "--input", given, "--nhwc", "--runtime", "shim", "-o", out)
            with self.subTest(given=given):
                self.assertIn("CONV_2D", self.succeed("verify", path, out, "--per-op").stdout)

    def test_litert_says_that_nothing_is_checked(self):
        path, out = self.saved(Net(False)), self.folder / "out.tflite"
        said = self.succeed(path, "--input", "1,3,20..40,8", "--nhwc", "--litert", out).stderr
        self.assertIn("may give wrong numbers for others than: input x: size 2: 20 or more; input x: size 2: 40 or less", said)

    def test_an_exported_program_has_its_own(self):
        """A range lies within the one that torch.export states, and names are those of --input."""
        path, out = ROOT / "testdata" / "exported" / "open" / "bounded.pt2", self.folder / "out.pt"
        self.succeed(path, "--min-segment-macs", "0", "--runtime", "shim", "--input", "1,5..20,8", "-o", out)
        module = load(out)
        for size in (10, 21):
            with self.assertRaisesRegex(Exception, "11 or more needed|20 or less needed"):
                module(torch.rand(1, size, 8))
        module(torch.rand(1, 20, 8))
        checked = self.succeed("check", path).stdout
        self.assertIn("each call is checked: input x: size 1: 11 or more", checked)
        self.assertIn("with --input 1,60,8: whole", checked)
        said = self.fail_with(2, path, "--input", "1,5..9,8", "-o", out).stderr
        self.assertIn("range 5..9 found at axis 1, sizes of 11..60 needed", said)


if __name__ == "__main__":
    unittest.main()
