# SPDX-License-Identifier: BSD-3-Clause
"""Scripted networks of PyTorch's own modules, whose branches are resolved as they are converted: NNAPI runs them whole."""

import unittest

import torch
from torch import nn

from cli import CliTest
from scripted_nets import MODELS, FirstOfNested, NestedEncoder, NestedLayers, SoftNested
from stock_torch import StockTorchTest, images, load

TRANSFORMER_TOLERANCE = 1e-3


def lively(model):
    """Weights that let the outputs differ with the inputs, attributes of nn.MultiheadAttention too."""
    torch.manual_seed(3)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=1.2 / parameter[0].numel() ** 0.5)
        else:
            nn.init.normal_(parameter, 0.5, 0.3)
    return model.eval()


class Whole(CliTest, StockTorchTest):
    def test_values(self):
        for model, shapes in MODELS.items():
            with self.subTest(model=model.__name__):
                path = self.folder / f"{model.__name__}.pt"
                torch.jit.script(lively(model())).save(str(path))
                specs = [word for shape in shapes for word in ("--input", ",".join(map(str, shape)))]
                out = self.folder / "out.pt"
                result = self.succeed(path, *specs, "--nhwc", "--fallback", "none", "--min-segment-macs", "0", "-o", out)
                self.assertNotIn("warning", result.stderr)
                samples = [[images(*shape, seed=10 * i + j) for j, shape in enumerate(shapes)] for i in range(3)]
                self.assert_agree(load(path), load(out), samples, TRANSFORMER_TOLERANCE)


class NestedTest(CliTest, StockTorchTest):
    """nn.TransformerEncoder with a mask makes nested tensors, whose rows have lengths of their own."""

    def masks(self):
        hidden = torch.zeros(3, 3, 6, dtype=torch.bool)
        hidden[0, 1, 4:] = hidden[0, 2, 2:] = hidden[1, 0, 1:] = True  # one row of each has its full length
        return hidden

    def check(self, module):
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        module.save(str(path))
        result = self.succeed(path, "--input", "3,6,16", "--input", "3,6:bool", "--fallback", "none", "-o", out)
        samples = [[images(3, 6, 16, seed=i), mask] for i, mask in enumerate(self.masks())]
        self.assert_agree(load(path), load(out), samples, TRANSFORMER_TOLERANCE)
        return result


class ScriptedNested(NestedTest):
    """In a process where nothing was traced before: a second script of a class has another type than the one asked for."""

    def test_scripted(self):
        result = self.check(torch.jit.script(lively(NestedEncoder())))
        self.assertIn("the converted model gives it in the mask's length", result.stderr)
        # A mask that hides others than the last elements of a row: PyTorch pads no rows then.
        model, converted = load(self.folder / "model.pt"), load(self.folder / "out.pt")
        mask = self.masks()[0].clone()
        mask[0, 2] = True
        x = images(3, 6, 16, seed=5)
        self.assert_agree(model, converted, [[x, mask]], TRANSFORMER_TOLERANCE)


class Nested(NestedTest):
    def test_traced(self):
        sample = images(3, 6, 16), self.masks()[0]
        self.check(torch.jit.trace(lively(NestedEncoder()), sample, check_trace=False))

    def test_first_of_a_row(self):
        sample = images(3, 6, 16), self.masks()[0]
        result = self.check(torch.jit.trace(lively(FirstOfNested()), sample, check_trace=False))
        self.assertRegex(result.stderr, r"^(nnapi-convert: warning: NNAPI is probably slower here than the CPU.*\n)?$")

    def test_of_a_model_itself(self):
        result = self.check(torch.jit.script(lively(NestedLayers())))
        self.assertIn("the converted model gives it in the mask's length", result.stderr)

    def test_other_operators_stay(self):
        """On the CPU, where the error of a model that NNAPI runs alone has the reason."""
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(lively(SoftNested())).save(str(path))
        specs = ["--input", "3,6,16", "--input", "3,6:bool"]
        self.fail_with(1, path, *specs, "--fallback", "none", "-o", out, needed=["a nested tensor, whose rows"])
        self.succeed(path, *specs, "--min-segment-macs", "0", "-o", out)
        samples = [[images(3, 6, 16, seed=i), mask] for i, mask in enumerate(self.masks())]
        self.assert_agree(load(path), load(out), samples)


if __name__ == "__main__":
    unittest.main()
