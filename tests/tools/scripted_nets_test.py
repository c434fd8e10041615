"""Scripted networks of PyTorch's own modules, whose branches are resolved as they are converted: NNAPI runs them whole."""

import unittest

import torch
from torch import nn

from cli import CliTest
from scripted_nets import MODELS
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
                result = self.succeed(path, *specs, "--nhwc", "--fallback", "none", "-o", out)
                self.assertNotIn("warning", result.stderr)
                samples = [[images(*shape, seed=10 * i + j) for j, shape in enumerate(shapes)] for i in range(3)]
                self.assert_agree(load(path), load(out), samples, TRANSFORMER_TOLERANCE)


if __name__ == "__main__":
    unittest.main()
