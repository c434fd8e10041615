# SPDX-License-Identifier: BSD-3-Clause
"""Networks quantised with a scale for each channel, as fbgemm has it, on the shim: weights and scales reach NNAPI bit
by bit, and the results are no further from the float network than TorchScript's."""

import subprocess
import unittest
from typing import Iterator, List, Tuple

import torch

from cli import ROOT, CliTest
from stock_torch import load

SHAPE = "1,3,64,64"


def packed_weights(module: torch.jit.ScriptModule) -> Iterator[Tuple[str, torch.Tensor]]:
    """Returns the weights of quantised convolutions and linear layers by the names of their modules."""
    for name, part in module.named_modules():
        packed = getattr(part, "_packed_params", None)
        if not isinstance(packed, torch.ScriptObject):
            continue
        is_linear = part.original_name == "LinearPackedParams"
        unpack = torch.ops.quantized.linear_unpack if is_linear else torch.ops.quantized.conv2d_unpack
        yield name, unpack(packed)[0]


def as_nnapi_holds(weight: torch.Tensor, groups_of_one: bool) -> bytes:
    """Filters by output channel, row, column and input channel; depthwise ones by row, column and channel."""
    values = weight.int_repr()
    if values.dim() == 2:
        values = values[:, :, None, None]
    return (values.permute(1, 2, 3, 0) if groups_of_one else values.permute(0, 2, 3, 1)).contiguous().numpy().tobytes()


class PerChannel(CliTest):
    def made(self, name: str):
        """Makes the network with per-channel weights and its float twin."""
        command = [str(ROOT / "scripts" / "makers" / "make_models.py"), "--group", "zoo_quantised", "--only", name,
                   "--", str(self.folder)]
        subprocess.run(["/usr/bin/python3", *command], check=True, stdout=subprocess.DEVNULL)
        return self.folder / f"{name}_per_channel.pt", self.folder / f"{name}_float.pt"

    def check(self, name: str, layers: int):
        model, twin = self.made(name)
        weights = list(packed_weights(load(model)))
        self.assertEqual(layers, len(weights))
        for mode in ("full", "core", "nnapi"):
            with self.subTest(mode=mode):
                out = self.folder / f"{mode}.pt"
                done = self.succeed(model, "--nhwc", "--quant", mode, "--runtime", "shim", "--input", SHAPE, "-o", out)
                self.assertEqual("", done.stderr)  # no warning of requantised weights
                self.assert_kept(weights, out)
                self.succeed("verify", model, out, "--reference", twin)  # at most 1.1 times TorchScript's distance

    def assert_kept(self, weights: List[Tuple[str, torch.Tensor]], path):
        reader = torch._C.PyTorchFileReader(str(path))
        blob, words = reader.get_record("data/0"), reader.get_record("data/1")
        for name, weight in weights:
            self.assertEqual(torch.per_channel_affine, weight.qscheme(), name)
            self.assertEqual(0, weight.q_per_channel_zero_points().abs().max().item(), name)
            depthwise = weight.dim() == 4 and weight.shape[1] == 1
            self.assertIn(as_nnapi_holds(weight, depthwise), blob, f"{name}: weights")
            scales = weight.q_per_channel_scales().float().numpy().tobytes()
            self.assertIn(scales, words, f"{name}: scales")

    def test_mobilenet_v2(self):
        self.check("mobilenet_v2", 53)

    def test_resnet18(self):
        self.check("resnet18", 21)


if __name__ == "__main__":
    unittest.main()
