"""The host's NNAPI computes a model that was quantised by data as the model's integer arithmetic has it, bit by bit."""

import json
import pathlib
import unittest
import zipfile

import numpy
import torch

from calibrate_test import SHIM, CalibrateTest
from cli import PROGRAM
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


if __name__ == "__main__":
    unittest.main()
