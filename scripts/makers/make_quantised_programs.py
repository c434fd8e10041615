#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes exported programs that are quantised (PT2E), with what PyTorch gives for their inputs: the files of
testdata/exported/quantised.

Run with PyTorch 2.6 or later: make_quantised_programs.py FOLDER. Releases that have no quantisers (torchao has them now)
write what is quantised by hand.
"""
import copy
import pathlib
import sys

import torch
import torch.ao.quantization.fx._decomposed  # declares the operators
from torch import nn
from torch.export import export, save

try:
    from torch.ao.quantization.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torch.ao.quantization.quantizer import x86_inductor_quantizer as x86
    from torch.ao.quantization.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
    from torch.export import export_for_training
    HAS_QUANTISERS = True
except ImportError:
    HAS_QUANTISERS = False


class Network(nn.Module):
    """Convolutions with and without relu, a sum, pooling, a concatenation and a linear layer."""
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.third = nn.Conv2d(8, 8, 1)
        self.last = nn.Linear(16, 5)

    def forward(self, x):
        x = self.norm(self.first(x)).relu()
        y = nn.functional.hardtanh(self.second(x), 0, 0.5)
        x = x + self.third(y)
        x = torch.cat([nn.functional.max_pool2d(x, 2), nn.functional.avg_pool2d(y, 2)], 1)
        return self.last(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Gate(nn.Module):
    """Products, a function between layers that has no quantised form, and a residual."""
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.gate = nn.Linear(8, 8)
        self.last = nn.Linear(8, 4, bias=False)

    def forward(self, x):
        return self.last((self.first(x) * torch.sigmoid(self.gate(x))).relu() + x.sin())


def rounded(x, scale, zero_point, low, high, dtype):
    """x through integers."""
    integers = torch.ops.quantized_decomposed.quantize_per_tensor(x, scale, zero_point, low, high, dtype)
    return torch.ops.quantized_decomposed.dequantize_per_tensor(integers, scale, zero_point, low, high, dtype)


def byte(x, scale, zero_point=0):
    return rounded(x, scale, zero_point, -128, 127, torch.int8)


class Upwards(nn.Module):
    """A convolution of lines, a transposed one with a scale for each channel, bytes of a smaller range, and a bias of
    integers; one result is integers."""
    def __init__(self):
        super().__init__()
        self.register_buffer("first", torch.randint(-127, 128, (6, 4, 3), dtype=torch.int8))
        self.register_buffer("bias", torch.randint(-3000, 3000, (6,), dtype=torch.int32))
        self.register_buffer("second", torch.randint(-127, 128, (6, 4, 2, 2), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(4) * 0.01 + 0.002)
        self.register_buffer("zero_points", torch.zeros(4, dtype=torch.int64))

    def forward(self, x):
        ops = torch.ops.quantized_decomposed
        weight = ops.dequantize_per_tensor(self.first, 0.004, 0, -127, 127, torch.int8)
        bias = ops.dequantize_per_tensor(self.bias, 0.0001, 0, -2**31, 2**31 - 1, torch.int32)
        x = nn.functional.conv1d(byte(x, 0.02, 3), weight, bias, padding=1).relu()
        x = rounded(x, 0.02, 0, 0, 127, torch.uint8).unsqueeze(2)
        weight = ops.dequantize_per_channel(self.second, self.scales, self.zero_points, 1, -127, 127, torch.int8)
        x = nn.functional.conv_transpose2d(byte(x, 0.02, -128), weight, stride=2)
        integers = ops.quantize_per_tensor(x, 0.05, 5, -128, 127, torch.int8)
        return ops.dequantize_per_tensor(integers, 0.05, 5, -128, 127, torch.int8), integers


class Wide(nn.Module):
    """Integers of 16 bits, weights of 4 bits with a scale for each group, and a weight that is rounded in the graph."""
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-8, 8, (6, 8), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(6, 2) * 0.1 + 0.02)
        self.register_buffer("zero_points", torch.randint(-2, 3, (6, 2), dtype=torch.int32))
        self.last = nn.Linear(6, 4)

    def forward(self, x):
        ops = torch.ops.quantized_decomposed
        x = rounded(x, 0.0002, 0, -32768, 32767, torch.int16)
        weight = ops.dequantize_per_channel_group(self.weight, self.scales, self.zero_points, -8, 7, torch.int8, 4,
                                                  torch.float32)
        x = byte(nn.functional.linear(x, weight), 0.03, 10)
        x = nn.functional.linear(x, byte(self.last.weight, 0.004), self.last.bias)
        return byte(nn.functional.leaky_relu(byte(x, 0.03), 0.2), 0.02, -20)


def symmetric(**options):
    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(**options))


def for_x86():
    return x86.X86InductorQuantizer().set_global(x86.get_default_x86_inductor_quantization_config())


def programs():
    """By name: the module, its argument, and the quantiser unless it is quantised by hand."""
    image, row, line = torch.randn(2, 3, 8, 8), torch.randn(3, 8), torch.randn(2, 4, 6)
    by_hand = {"upwards": (Upwards(), line, None), "wide": (Wide(), row, None)}
    return by_hand if not HAS_QUANTISERS else by_hand | {
        "channels": (Network(), image, symmetric(is_per_channel=True)),
        "tensors": (Network(), image, symmetric(is_per_channel=False)),
        "x86": (Network(), image, for_x86()),
        "gate": (Gate(), row, symmetric(is_per_channel=True)),
        "dynamic": (Gate(), row, symmetric(is_per_channel=True, is_dynamic=True)),
    }


def quantised(module, argument, quantiser):
    prepared = prepare_pt2e(export_for_training(module, (argument,)).module(), quantiser)
    for _ in range(4):
        prepared(torch.randn_like(argument))
    prepared(argument)
    return convert_pt2e(prepared)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    for name, (module, argument, quantiser) in programs().items():
        module = copy.deepcopy(module).eval()
        program = export(quantised(module, argument, quantiser) if quantiser else module, (argument,))
        forms = {name: program}
        if name in ("channels", "gate"):
            forms[f"{name}_decomposed"] = program.run_decompositions()
        for form, each in forms.items():
            save(each, str(folder / f"{form}.pt2"))
            with torch.no_grad():
                torch.save(((argument,), {}, each.module()(argument)), folder / f"{form}.results")


if __name__ == "__main__":
    main()
