# SPDX-License-Identifier: BSD-3-Clause
"""The host's NNAPI computes a model that was quantised by data as the model's integer arithmetic has it, bit by bit."""

import json
import pathlib
import unittest
import zipfile

import numpy
import torch

from torch import nn

from calibrate_test import SHIM, CalibrateTest
from cli import PROGRAM, CliTest
from exact_integers import Exact, read_shim, read_stock
from stock_torch import call, load

torch.ops.load_library(str(pathlib.Path(PROGRAM).resolve().parents[1] / "lib" / "libnnapi_shim_torch.so"))


class ExactIntegers(CalibrateTest):
    def check(self, read, *options):
        self.make_net()
        out = self.convert(self.model, *self.spec, "--nhwc", "--calibrate", self.data, "--quant", "full", *options)
        with zipfile.ZipFile(out) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith("nnapi_convert.json")]
            quantisation = json.loads(archive.read(name))["inputs"][0]["quantization"]
        exact, module, found = Exact(read(out)), load(out), []
        for picture in self.pictures[64:].unsqueeze(1):
            scale, zero_point = quantisation["scale"], quantisation["zero_point"]
            argument = torch.quantize_per_tensor(picture, scale, zero_point, torch.quint8)
            (expected,) = exact.run(argument.int_repr().permute(0, 2, 3, 1).numpy())
            found.append(call(module, argument).int_repr().numpy())
            numpy.testing.assert_array_equal(expected, found[-1])
        self.assertGreater(numpy.concatenate(found).std(0).min(), 2, "the outputs must vary")
        # The reference of Android's runtime rounds twice.
        self.assertGreater(exact.checked, 10000)
        self.assertLessEqual(exact.greatest_difference, 1)
        self.assertLess(exact.differing, exact.checked / 100)

    def test_stock_loader(self):
        self.check(read_stock)

    def test_shim(self):
        self.check(read_shim, *SHIM)


class Places(nn.Module):
    """A network of words that counts those that are there, and reads a row of a table for each count."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.words, self.places = nn.Embedding(50, 8), nn.Embedding(40, 8)
        self.layer = nn.Linear(8, 8)

    def forward(self, words):
        there = words.ne(1).int()
        places = (torch.cumsum(there, 1) * there).long() + 1
        return self.layer(self.words(words) + self.places(places))


class IndexArithmetic(CliTest):
    def test_places_stay_float(self):
        """In 8 bits the counts would be other rows."""
        words = torch.randint(0, 50, (40, 1, 24))
        words[:, :, 20:] = 1
        model = Places().eval()
        torch.jit.trace(model, words[0]).save(str(self.folder / "model.pt"))
        torch.save([(each,) for each in words[:32]], self.folder / "data.pt")
        self.succeed(self.folder / "model.pt", "--input", "1,24:int64", "--min-segment-macs", "0", "--calibrate",
                     self.folder / "data.pt", "-o", self.folder / "out.pt")
        module = load(self.folder / "out.pt")
        expected = torch.stack([model(each) for each in words[32:]])
        error = torch.stack([call(module, each) for each in words[32:]]) - expected
        self.assertGreater(expected.std(), 0.1)
        self.assertLess(error.square().mean(), expected.square().mean() / 1000)


if __name__ == "__main__":
    unittest.main()
