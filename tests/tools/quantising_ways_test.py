#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every way of quantising that PyTorch 1.13 has, each made here, converted, and run by stock PyTorch on the host's NNAPI."""

import json
import struct
import unittest
from typing import Tuple

import torch
from torch import nn

import quantising_ways
from cli import CliTest
from stock_torch import StockTorchTest, call, load, real
from zip_files import stored

STEPS = 0.06  # of the range: the networks round five times in a row, each time by up to a step of 1/256


class QuantisingWays(CliTest, StockTorchTest):
    def convert_way(self, name, *options):
        way = quantising_ways.WAYS[name]
        path = quantising_ways.write(name, self.folder)
        report = self.folder / "report.json"
        out = self.convert(path, "--input", ",".join(map(str, way.shape)), "--report", report, *options, out=f"{name}.out.pt")
        return path, out, json.loads(report.read_text())

    def assert_agrees(self, name, path, out, tolerance):
        torch.backends.quantized.engine = quantising_ways.WAYS[name].engine
        original, converted = load(path), load(out)
        for sample in quantising_ways.samples(quantising_ways.WAYS[name].shape):
            expected, found = real(call(original, sample)), real(call(converted, sample))
            spread = (expected.max() - expected.min()).item()
            self.assertGreater(spread, 1e-3, "a flat output shows nothing")
            self.assertLessEqual((expected - found).abs().max().item(), tolerance * spread, name)

    def assert_whole(self, report, name):
        self.assertNotIn("partition", report, f"{name} is not whole: {report.get('refusals')}")

    def test_all(self):
        for name in quantising_ways.WAYS:
            with self.subTest(name):
                path, out, report = self.convert_way(name)
                self.assert_whole(report, name)
                self.assert_agrees(name, path, out, STEPS)

    def test_all_modes_of_graph_mode(self):
        for mode in ("core", "full", "nnapi"):
            with self.subTest(mode):
                path, out, report = self.convert_way("graph_scripted", "--nhwc", "--quant", mode)
                self.assert_whole(report, mode)
                self.assertEqual(mode, report["quant"])


class Float16Linear(nn.Module):
    """As torch.nn.quantized.dynamic.Linear of float16 weights is saved; loading packs them, by FBGEMM alone."""

    def __init__(self, layer):
        super().__init__()
        self.weight, self.bias = layer.weight.detach(), layer.bias.detach()
        integers = torch.quantize_per_tensor(self.weight, 0.1, 0, torch.qint8)
        self.packed = torch.ops.quantized.linear_prepack(integers, self.bias)  # this PyTorch can't pack float16

    @torch.jit.export
    def __getstate__(self):
        return self.weight, self.bias, self.training

    @torch.jit.export
    def __setstate__(self, state: Tuple[torch.Tensor, torch.Tensor, bool]):
        self.weight, self.bias, self.training = state[0], state[1], state[2]
        self.packed = torch.ops.quantized.linear_prepack_fp16(state[0], state[1])

    def forward(self, x):
        return torch.ops.quantized.linear_dynamic_fp16(x, self.packed)


class Float16Linears(CliTest, StockTorchTest):
    def test_stand_for_the_float_layer_of_rounded_weights(self):
        torch.manual_seed(0)
        layer = nn.Linear(12, 5)
        layer.weight.data[0, 0], layer.weight.data[1, 1] = 3e-5, 1.0 / 3
        path = self.folder / "model.pt"
        torch.jit.script(Float16Linear(layer).eval()).save(str(path))
        converted = load(self.convert(path, "--input", "2,12"))
        layer.weight.data = layer.weight.data.half().float()
        self.assert_agree(layer, converted, [(sample,) for sample in quantising_ways.samples((2, 12))])

    def test_packed_by_fbgemm(self):
        """As files have it since PyTorch 1.6: an object of PyTorch's class, whose state only FBGEMM packs."""
        torch.manual_seed(0)
        path = self.folder / "model.pt"
        for layer in (nn.Linear(12, 5), nn.Linear(12, 5, bias=False)):
            path.write_bytes(packed_by_fbgemm(layer))
            with self.assertRaisesRegex(RuntimeError, "QNNPACK only supports INT8|FBGEMM"):
                torch.jit.load(str(path))
            converted = load(self.convert(path, "--input", "2,12", "--fallback", "none", "--verify"))
            layer.weight.data = layer.weight.data.half().float()
            self.assert_agree(layer, converted, [(sample,) for sample in quantising_ways.samples((2, 12))])


def pickled_text(text):
    return b"X" + struct.pack("<I", len(text)) + text.encode()


def pickled_tensor(key, tensor):
    def numbers(values):
        return b"(" + b"".join(b"J" + struct.pack("<i", value) for value in values) + b"t"

    storage = (b"(" + pickled_text("storage") + b"ctorch\nFloatStorage\n" + pickled_text(key) + pickled_text("cpu") + b"J" +
               struct.pack("<i", tensor.numel()) + b"tQ")
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\x00" + numbers(tensor.shape) + numbers(tensor.stride()) +
            b"\x89ccollections\nOrderedDict\n)RtR")


def packed_by_fbgemm(layer) -> bytes:
    """A module with quantized::linear_dynamic_fp16, which only a PyTorch with FBGEMM makes and reads."""
    code = """class Net(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  packed : __torch__.torch.classes.quantized.LinearPackedParamsBase
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    return ops.quantized.linear_dynamic_fp16(x, self.packed)
"""
    tensors = [layer.weight.detach().contiguous()] + ([] if layer.bias is None else [layer.bias.detach()])
    state = b"".join(pickled_tensor(str(i), tensor) for i, tensor in enumerate(tensors)) + (b"N" if layer.bias is None else b"")
    data = (b"\x80\x02c__torch__\nNet\n)\x81}(" + pickled_text("training") + b"\x89" + pickled_text("packed") +
            b"c__torch__.torch.classes.quantized\nLinearPackedParamsBase\n)\x81(" + state + b"tbub.")
    weights = {f"net/data/{i}": tensor.numpy().tobytes() for i, tensor in enumerate(tensors)}
    return stored({**weights, "net/data.pkl": data, "net/code/__torch__.py": code.encode(),
                   "net/constants.pkl": b"\x80\x02).", "net/version": b"3\n"})


if __name__ == "__main__":
    unittest.main()
