# SPDX-License-Identifier: BSD-3-Clause
"""Exported programs with open sizes, of PyTorch 2.14 (testdata/exported/open): NAME.npz has arguments of several sizes (sK_aJ)
and what PyTorch gave for them (sK_rJ). Parts go to NNAPI beside steps on the CPU, and one symbol is one size."""

import re
import unittest

import numpy
import torch
from torch import nn

import open_models
from cli import CliTest, ROOT
from exported_fixtures import EXPORTED, tensors
from stock_torch import StockTorchTest, load

OPEN = EXPORTED / "open"
LIBRARY = ROOT / "build" / "release" / "lib" / "libnnapi_shim_torch.so"
torch.ops.load_library(str(LIBRARY))
RUNTIMES = {"pytorch": (), "shim": ("--runtime", "shim")}
# What a guard says of sizes that the program doesn't take: arguments, and the words of each runtime.
GUARDED = {
    "same_symbol": ([(1, 3, 16, 9)], {"pytorch": "input x: size 3: 9 found, size 2 of x needed", "shim": "9"}),
    "two_inputs_one_length": ([(1, 5, 8), (1, 6)], {"pytorch": "size 1: 6 found, size 1 of x needed",
                                                   "shim": "axis 1 of argument 1 has size 6, 5 needed"}),
    "windows": ([(1, 18, 24, 8)], {"pytorch": "18", "shim": "18"}),
}


class OpenSizes(CliTest, StockTorchTest):
    def converted(self, name, runtime):
        out = self.folder / f"{name}_{runtime}.pt"
        self.succeed(OPEN / f"{name}.pt2", "--min-segment-macs", "0", *RUNTIMES[runtime], "--verify", "-o", out)
        return load(out)

    def test_all_sizes(self):
        for path in sorted(OPEN.glob("*.pt2")):
            values = numpy.load(OPEN / f"{path.stem}.npz")
            for runtime in RUNTIMES:
                with self.subTest(name=path.stem, runtime=runtime):
                    module = self.converted(path.stem, runtime)
                    for sample in (0, 1, 2, 0):
                        inputs = [torch.from_numpy(values[f"s{sample}_a{i}"]) for i in range(9) if f"s{sample}_a{i}" in values]
                        for i, found in enumerate(tensors(module(*inputs))):
                            self.assert_close(torch.from_numpy(values[f"s{sample}_r{i}"]), found)

    def test_guards(self):
        for name, (shapes, words) in GUARDED.items():
            for runtime in RUNTIMES:
                with self.subTest(name=name, runtime=runtime):
                    module = self.converted(name, runtime)
                    with self.assertRaisesRegex(Exception, words[runtime]):
                        module(*(torch.rand(shape) for shape in shapes))

    def test_conditions_of_the_export(self):
        """A branch on a size: the other way isn't in the file."""
        for runtime in RUNTIMES:
            with self.subTest(runtime=runtime):
                module = self.converted("bounded", runtime)
                module(torch.rand(1, 11, 8))
                with self.assertRaisesRegex(Exception, "input x: size 1: 10 found, 11 or more needed"):
                    module(torch.rand(1, 10, 8))

    def test_memory_of_many_sizes(self):
        """Compilations of old sizes are freed."""
        for runtime in RUNTIMES:
            module = self.converted("sort_after_conv", runtime)
            peaks = []
            for round_ in range(20):
                for size in range(9, 59):
                    module(torch.rand(1, 3, size, 20))
                with open("/proc/self/statm") as file:
                    peaks.append(int(file.read().split()[1]) * 4096)
            with self.subTest(runtime=runtime):
                self.assertLess(peaks[-1] - peaks[1], 8 << 20, peaks)


class Networks(CliTest, StockTorchTest):
    def test_all_sizes(self):
        for network in open_models.NETWORKS:
            torch.manual_seed(0)
            model = network.make().eval()
            path, out = self.folder / "model.pt", self.folder / "out.pt"
            torch.jit.script(model).save(str(path))
            given = [word for name, sizes in network.inputs.items() for word in ("--input", f"{name}={sizes}")]
            for runtime, options in RUNTIMES.items():
                with self.subTest(network=network.make.__name__, runtime=runtime):
                    self.succeed(path, *given, "--nhwc", "--min-segment-macs", "0", *options, "-o", out)
                    converted = load(out)
                    for number, sizes in enumerate([*network.calls, network.calls[0]]):
                        inputs = [self.tensor(spec, size, number) for spec, size in zip(network.inputs.values(), sizes)]
                        for expected, found in zip(tensors(model(*inputs)), tensors(converted(*inputs))):
                            self.assert_close(expected.detach(), found)

    @staticmethod
    def tensor(spec, sizes, seed):
        torch.manual_seed(seed)
        return torch.randint(0, 2, sizes) if spec.endswith("int64") else torch.randn(sizes)


class ShortTable(nn.Module):
    """Of a table of 64 rows the first, as many as there are tokens: a self-check of 96 tokens gets 64."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(8, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 8))
        self.table = nn.Parameter(torch.randn(64, 8))

    def forward(self, x):
        return torch.relu(self.layer(x)), self.table[:x.size(1)]


class SelfCheck(CliTest, StockTorchTest):
    def test_sizes_that_the_graph_does_not_tell(self):
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(ShortTable().eval()).save(str(path))
        said = self.succeed(path, "--input", "1,?,8", "--min-segment-macs", "0", "--runtime", "shim", "-o", out).stderr
        self.assertIn("a result has 512 elements at the sample's sizes, and 768 by the graph", said)
        original, converted, x = load(path), load(out), torch.randn(1, 20, 8)
        for expected, found in zip(tensors(original(x)), tensors(converted(x))):
            self.assert_close(expected, found)


class Printing(nn.Module):
    def __init__(self, least: int):
        super().__init__()
        self.layer, self.least = nn.Conv2d(3, 8, 3, 2, 1), least

    def forward(self, x):
        print(x.size())
        assert x.size(2) >= self.least
        return self.layer(x).relu()


class Verified(CliTest):
    def test_samples_have_various_sizes(self):
        """The usual one alone where the original doesn't take the others."""
        for least, sizes in ((1, {(96, 96), (65, 65), (121, 121)}), (90, {(96, 96)})):
            path, out = self.folder / "model.pt", self.folder / "out.pt"
            torch.jit.script(Printing(least).eval()).save(str(path))
            self.succeed(path, "--input", "1,3,?,?", "--nhwc", "--min-segment-macs", "0", "-o", out)
            printed = self.succeed("verify", path, out).stdout.split("output ")[0]
            compared = re.findall(r"\[1, 3, (\d+), (\d+)\]", printed)[-5:]
            self.assertEqual({(str(height), str(width)) for height, width in sizes}, set(compared))
            self.succeed("verify", path, out, "--input", "1,3,100,97")


if __name__ == "__main__":
    unittest.main()
