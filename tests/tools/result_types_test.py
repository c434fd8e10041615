"""Lists and dicts of results whose elements have several types. PyTorch 1.13's lite interpreter can't load those."""

import unittest

import torch

from cli import CliTest
from result_models import Detector, Mixed, Nested
from stock_torch import StockTorchTest, call, images, load


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


if __name__ == "__main__":
    unittest.main()
