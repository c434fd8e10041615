# SPDX-License-Identifier: BSD-3-Clause
"""Lists and dicts of results whose elements have several types, and NamedTuples. PyTorch 1.13's
lite interpreter can't load the former, nor lists of the latter."""

import unittest

import torch

from cli import LIBRARIES, CliTest
from result_models import Detector, Found, Mixed, Named, NamedInContainers, NamedInNamed, Nested
from stock_torch import StockTorchTest, call, images, load

torch.ops.load_library(str(LIBRARIES / "libnnapi_shim_torch.so"))


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [tensor for part in parts for tensor in leaves(part)]


class ResultTypes(CliTest, StockTorchTest):
    def test_agree(self):
        for model in (Detector, Mixed, Nested):
            for arguments in ([], ["--fallback", "none", "--emit-cpu", self.folder / "cpu.pt"]):
                with self.subTest(model=model.__name__, arguments=arguments):
                    self.check(model(), *arguments)

    def check(self, module, *arguments):
        scripted = torch.jit.script(module.eval())
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        scripted.save(str(path))
        self.succeed(path, "--input", "1,3,16,16", "--nhwc", *arguments, "--verify", "-o", out)
        results = [load(out)] + ([load(self.folder / "cpu.pt")] if arguments else [])
        for converted in results:
            self.assertEqual(str(scripted.forward.schema).split("->")[1], str(converted.forward.schema).split("->")[1])
            for seed in range(2):
                expected, found = (call(each, images(1, 3, 16, 16, seed=seed)) for each in (scripted, converted))
                self.assert_close(leaves(expected), leaves(found))

    def test_shim(self):
        path = self.folder / "model.pt"
        torch.jit.script(Detector().eval()).save(str(path))
        self.succeed(path, "--input", "1,3,16,16", "--nhwc", "--runtime", "shim", "--verify",
                     "-o", self.folder / "s.pt")

    def test_named_tuples(self):
        for model in (Named, NamedInNamed, NamedInContainers):
            for arguments in (["--fallback", "none", "--emit-cpu", self.folder / "cpu.pt"], ["--runtime", "shim"],
                              ["--runtime", "shim", "--fallback", "cpu"]):
                with self.subTest(model=model.__name__, arguments=arguments):
                    scripted = torch.jit.script(model().eval())
                    path, out = self.folder / "model.pt", self.folder / "out.pt"
                    scripted.save(str(path))
                    self.succeed(path, "--input", "1,3,16,16", "--nhwc", *arguments, "--verify", "-o", out)
                    expected, found = call(scripted, images(1, 3, 16, 16)), call(load(out), images(1, 3, 16, 16))
                    self.assert_close(leaves(expected), leaves(found))
                    self.assertEqual(str(scripted.forward.schema).split("->")[1],
                                     str(load(out).forward.schema).split("->")[1])
                    self.assertEqual(self.fields(expected), self.fields(found))

    def fields(self, value):
        """The names of NamedTuples' fields in a result, in the order of a walk."""
        if isinstance(value, torch.Tensor):
            return []
        own = [value._fields] if hasattr(value, "_fields") else []
        return own + [each for part in (value.values() if isinstance(value, dict) else value)
                      for each in self.fields(part)]

    def test_named_tuples_of_methods(self):
        class Two(Named):
            @torch.jit.export
            def other(self, x) -> Found:
                y = self.conv(x)
                return Found(torch.sigmoid(y), y)

        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(Two().eval()).save(str(path))
        self.succeed(path, "--input", "forward.x=1,3,16,16", "--input", "other.x=1,3,16,16", "--nhwc", "--method", "forward",
                     "--method", "other", "-o", out)
        x = images(1, 3, 16, 16)
        for method in ("forward", "other"):
            expected, found = getattr(load(path), method)(x), getattr(load(out), method)(x)
            self.assert_close(leaves(expected), leaves(found))
            self.assertEqual(("logits", "features"), found._fields)


if __name__ == "__main__":
    unittest.main()
