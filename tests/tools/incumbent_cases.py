# SPDX-License-Identifier: BSD-3-Clause
"""What PyTorch 1.13.1 tests its own NNAPI converter with, as one table: 28 tests, 227 conversions, 14 of which that
converter refuses. A flexible size, which it writes as 0, is open here; `layout` is NHWC where it marks an input so."""

import dataclasses
from typing import Callable, List, Optional, Sequence, Tuple

import torch
from torch import nn
from torch.ao import quantization

Parameters = Tuple[float, int]  # scale and zero point


@dataclasses.dataclass(frozen=True)
class Argument:
    sizes: Tuple[int, ...]
    spread: float = 1.0
    quint8: Optional[Parameters] = None
    quint8_of_conversion: Optional[Parameters] = None  # where it is another one
    is_nhwc: bool = False
    open_axes: Tuple[int, ...] = ()

    def draw(self, generator: torch.Generator) -> torch.Tensor:
        """Normal floats, or all codes alike, laid out in memory as the converter is told."""
        if self.quint8:
            values = torch.randint(256, self.sizes, generator=generator, dtype=torch.uint8)
            tensor = torch._make_per_tensor_quantized_tensor(values, *self.quint8)
        else:
            tensor = torch.randn(self.sizes, generator=generator) * self.spread
        return tensor.contiguous(memory_format=torch.channels_last) if self.is_nhwc else tensor

    def grown(self) -> "Argument":
        """At another size of the open axes, and in the scale of the conversion."""
        sizes = tuple(size + (axis in self.open_axes) for axis, size in enumerate(self.sizes))
        return dataclasses.replace(self, sizes=sizes, quint8=self.quint8_of_conversion or self.quint8)

    @property
    def spec(self) -> str:
        sizes = ",".join("?" if axis in self.open_axes else str(size) for axis, size in enumerate(self.sizes))
        parameters = self.quint8_of_conversion or self.quint8
        return f"{sizes}:quint8:{parameters[0]}:{parameters[1]}" if parameters else sizes


def floats(*sizes: int, spread: float = 1.0) -> Argument:
    return Argument(sizes, spread)


def codes(*sizes: int, scale: float, zero_point: int) -> Argument:
    return Argument(sizes, quint8=(scale, zero_point))


def nhwc(argument: Argument) -> Argument:
    return dataclasses.replace(argument, is_nhwc=True)


def flex(argument: Argument, *axes: int) -> Argument:
    return dataclasses.replace(argument, open_axes=axes)


def four_kinds(*sizes: int, scale: float, zero_point: int) -> List[Argument]:
    kinds = [floats(*sizes), codes(*sizes, scale=scale, zero_point=zero_point)]
    return kinds + [nhwc(kind) for kind in kinds]


class Function(nn.Module):
    """Makes a module from a function of its inputs."""

    def __init__(self, function: Callable):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


@dataclasses.dataclass(frozen=True)
class Case:
    module: nn.Module
    arguments: Sequence[Argument]
    is_refused_there: bool = False
    keeps_layout: bool = False  # the output is laid out in memory as the input

    @property
    def has_other_scale(self) -> bool:
        return any(argument.quint8_of_conversion for argument in self.arguments)

    def grown(self) -> Optional["Case"]:
        """Returns the case at another size; None if no size is flexible, or if inputs grow differently."""
        open_axes = {argument.open_axes for argument in self.arguments}
        if open_axes == {()} or len(open_axes) > 1:
            return None
        return dataclasses.replace(self, arguments=[argument.grown() for argument in self.arguments])


def case(module, *arguments: Argument, **options) -> Case:
    return Case(module if isinstance(module, nn.Module) else Function(module), arguments, **options)


def refused(module, *arguments: Argument) -> Case:
    return case(module, *arguments, is_refused_there=True)


def prelu(*slopes: float) -> nn.PReLU:
    module = nn.PReLU(len(slopes))
    module.weight.data = torch.tensor(slopes)
    return module


def reshape(*sizes: int) -> Callable:
    return lambda x: x.reshape(sizes)


def two_slices(x):
    return x[1:, 1:5:2, :]


ARITHMETIC = [torch.add, torch.sub, torch.mul, torch.div]


def cases_with_a_constant() -> List[Case]:
    constant = torch.randn(1, 4, 6, 6)
    image = floats(2, 4, 6, 6)
    functions = [lambda x: x + constant, lambda x: constant + x]
    return [case(function, argument, keeps_layout=True) for function in functions for argument in (image, nhwc(image))]


def cases_of_avg_pool2d() -> List[Case]:
    """Converts a flexible input with scale 1/16, and runs it with another scale."""
    cases = []
    for kind in four_kinds(2, 3, 12, 16, scale=0.03, zero_point=128):
        flexible = flex(kind, 2, 3)
        if kind.quint8:
            flexible = dataclasses.replace(flexible, quint8_of_conversion=(1 / 16, 128))
        for module in (nn.AvgPool2d(2), nn.AvgPool2d((3, 4)), nn.AvgPool2d((3, 4), (1, 2))):
            cases += [case(module, kind), case(module, flexible)]
    return cases


def cases_of_upsample() -> List[Case]:
    cases = []
    for kind in four_kinds(2, 3, 12, 16, scale=0.03, zero_point=128):
        for size in [(16, 20), (24, 32), (36, 48)]:
            cases.append(case(nn.UpsamplingNearest2d(size=size), kind))
        for factor in (1.5, 2, 3):
            cases.append(case(nn.UpsamplingNearest2d(scale_factor=factor), kind))
        cases.append(case(nn.UpsamplingNearest2d(size=(24, 32)), flex(kind, 2, 3)))
        cases.append(case(nn.UpsamplingNearest2d(scale_factor=2), flex(kind, 2, 3)))
    return cases


CONVOLUTIONS = [
    (4, lambda: nn.Conv2d(4, 8, 3)),
    (4, lambda: nn.Conv2d(4, 8, 3, bias=False)),
    (4, lambda: nn.Conv2d(4, 16, 3, padding=1)),
    (8, lambda: nn.Conv2d(8, 8, 3, stride=2)),
    (4, lambda: nn.Conv2d(4, 8, 5)),
    (4, lambda: nn.Conv2d(4, 4, 3, groups=4)),
    (8, lambda: nn.Conv2d(8, 4, 1)),
]


def quantised(module: nn.Module, argument: Argument) -> nn.Module:
    """Calibrated by random inputs, for qnnpack."""
    model = nn.Sequential(module).eval()
    model.qconfig = quantization.get_default_qconfig("qnnpack")
    quantization.prepare(model, inplace=True)
    generator = torch.Generator().manual_seed(0)
    for _ in range(4):
        model(argument.draw(generator).dequantize())
    return quantization.convert(model, inplace=True)


def cases_of_convolution(make: Callable, *sizes: int) -> List[Case]:
    cases = []
    for kind in four_kinds(*sizes, scale=1 / 16, zero_point=128):
        module = quantised(make(), kind) if kind.quint8 else make()
        cases += [case(module, kind), case(module, flex(kind, 2, 3))]
    return cases


def cases_of_quantised_arithmetic() -> List[Case]:
    vector = codes(2, scale=0.25, zero_point=128)
    row = codes(1, 2, scale=0.25, zero_point=128)
    cases = []
    for name in ("add", "add_relu", "mul"):
        functional = nn.quantized.QFunctional()
        functional.scale, functional.zero_point = 0.5, 120
        function = getattr(functional, name)
        cases.append(case(function, vector, vector))
        # There either input is zeros at conversion, and both: by their names these are flexible.
        cases += [case(function, row, flex(row, 1)), case(function, flex(row, 1), row)]
        cases.append(case(function, flex(row, 1), flex(row, 1)))
    return cases


def quantised_linear() -> nn.Module:
    module = nn.quantized.Linear(32, 16)
    weight = torch.quantize_per_tensor(torch.randn(16, 32), 0.125, 0, torch.qint8)
    module.set_weight_bias(weight, torch.randn(16))
    return module


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    conversions: int
    refused_there: int
    cases: Callable[[], List[Case]]


ROWS = [
    Row("test_prelu", 3, 0, lambda: [
        case(prelu(0.25), floats(1, 4, 1, 1)),
        case(prelu(0.1, 0.2, 0.3, 0.4), nhwc(floats(1, 4, 1, 1))),
        case(prelu(0.1, 0.2, 0.3, 0.4), flex(nhwc(floats(1, 4, 3, 3)), 2, 3)),
    ]),
    Row("test_quantize", 1, 0, lambda: [
        case(nn.quantized.Quantize(0.25, 2, torch.quint8), nhwc(floats(1, 2, 1, 1, spread=20))),
    ]),
    Row("test_dequantize", 1, 0, lambda: [
        case(nn.quantized.DeQuantize(), nhwc(codes(1, 2, 1, 1, scale=0.25, zero_point=2))),
    ]),
    Row("test_unsqueeze", 5, 0, lambda: [
        case(lambda x, axis=axis: x.unsqueeze(axis), floats(4, 2, 2)) for axis in (-2, -1, 0, 1, 2)
    ]),
    Row("test_reshape", 3, 1, lambda: [
        case(reshape(2, 4), floats(4, 2, 1, 1)),
        case(reshape(8, -1), nhwc(floats(4, 2, 1, 1))),
        refused(reshape(2, 4), nhwc(floats(4, 2, 1, 1))),
    ]),
    Row("test_flatten", 11, 3, lambda: [
        *[case(nn.Flatten(*axes), floats(4, 2, 1, 3, 7)) for axes in ((), (2, 3), (2, 4), (0, -2), (0, 4))],
        case(nn.Flatten(), flex(floats(4, 2, 1, 3, 7), 0)),
        case(nn.Flatten(), nhwc(floats(2, 1, 4, 7))),
        case(nn.Flatten(), nhwc(floats(2, 3, 1, 1))),
        refused(nn.Flatten(), nhwc(floats(1, 3, 4, 4))),
        refused(nn.Flatten(), flex(floats(4, 2, 1, 3, 7), 2, 3)),
        refused(nn.Flatten(1, -2), flex(floats(4, 2, 1, 3, 7), 0, 4)),
    ]),
    Row("test_slice", 4, 1, lambda: [
        case(two_slices, floats(4, 6, 2)),
        case(lambda x: x[3:], floats(5)),
        case(two_slices, flex(floats(4, 6, 2), 2)),
        refused(two_slices, flex(floats(4, 6, 2), 0, 1, 2)),
    ]),
    Row("test_cat", 4, 0, lambda: [
        case(lambda x, y: torch.cat([x, y], 0), floats(1, 2, 3, 3), floats(2, 2, 3, 3)),
        case(lambda x, y: torch.cat([x, y], 1), floats(1, 2, 3, 3), floats(1, 4, 3, 3)),
        case(lambda x, y: torch.cat([x, y], 1), nhwc(floats(1, 2, 3, 3)), nhwc(floats(1, 4, 3, 3))),
        case(lambda x, y: torch.cat([x, y], 1),
             flex(floats(1, 2, 3, 3), 0, 1, 2, 3), flex(floats(1, 4, 3, 3), 0, 1, 2, 3)),
    ]),
    Row("test_pointwise_unary", 4, 0, lambda: [
        case(function, argument)
        for function in (torch.relu, torch.sigmoid) for argument in (floats(2), codes(2, scale=1 / 256, zero_point=0))
    ]),
    Row("test_pointwise_binary", 12, 4, lambda: [
        *[case(function, floats(2), floats(2)) for function in ARITHMETIC],
        *[case(function, floats(1, 2), floats(2, 2)) for function in ARITHMETIC],
        *[refused(function, floats(2), floats(2, 2)) for function in ARITHMETIC],
    ]),
    Row("test_pointwise_binary_const", 4, 0, cases_with_a_constant),
    Row("test_hardtanh", 3, 1, lambda: [
        case(nn.Hardtanh(), floats(5)),
        case(nn.Hardtanh(0.0, 6.0), floats(5, spread=6)),
        refused(nn.Hardtanh(0.0, 5.0), floats(5, spread=6)),
    ]),
    Row("test_softmax", 3, 0, lambda: [
        case(nn.Softmax(), floats(2, 2)),
        case(nn.Softmax(dim=0), floats(2, 2)),
        case(nn.Softmax(), flex(floats(2, 2), 0, 1)),
    ]),
    Row("test_to", 2, 0, lambda: [
        case(nn.Sequential(Function(lambda x: x.to("cpu")), nn.PReLU()), argument)
        for argument in (floats(1, 2, 3, 3), flex(floats(1, 2, 3, 3), 2, 3))
    ]),
    Row("test_detach", 2, 0, lambda: [
        case(lambda x: torch.relu(x.detach()), argument)
        for argument in (floats(1, 2, 3, 3), flex(floats(1, 2, 3, 3), 2, 3))
    ]),
    Row("test_log_softmax", 2, 0, lambda: [
        case(nn.LogSoftmax(), floats(3, 10)),
        case(nn.LogSoftmax(0), floats(3, 10)),
    ]),
    Row("test_mean", 6, 0, lambda: [
        case(lambda x: x.mean(0), floats(2, 3)),
        case(lambda x: x.mean(1), floats(2, 3)),
        case(lambda x: x.mean([2, 3]), floats(2, 3, 6, 6)),
        case(lambda x: x.mean([2, 3]), nhwc(floats(2, 3, 6, 6))),
        case(lambda x: x.mean([-1, -2]), nhwc(floats(2, 3, 6, 6))),
        case(lambda x: x.mean([-1, -2], keepdim=True), nhwc(floats(2, 3, 6, 6))),
    ]),
    Row("test_max_pool2d", 12, 0, lambda: [
        case(module, kind)
        for kind in four_kinds(2, 3, 12, 16, scale=0.03, zero_point=128)
        for module in (nn.MaxPool2d(2), nn.MaxPool2d((3, 4)), nn.MaxPool2d((3, 4), (1, 2)))
    ]),
    Row("test_avg_pool2d", 24, 0, cases_of_avg_pool2d),
    Row("test_adaptive_avg_pool2d", 8, 4, lambda: [
        Case(nn.AdaptiveAvgPool2d(size), [kind], is_refused_there=size == (2, 2))
        for kind in four_kinds(2, 3, 12, 16, scale=0.03, zero_point=128) for size in ((1, 1), (2, 2))
    ]),
    Row("test_upsample_nearest2d", 32, 0, cases_of_upsample),
    Row("test_linear", 2, 0, lambda: [
        case(nn.Linear(16, 32), argument) for argument in (floats(2, 16), flex(floats(2, 16), 0))
    ]),
    Row("test_conv2d", 56, 0, lambda: [
        each for channels, make in CONVOLUTIONS for each in cases_of_convolution(make, 2, channels, 16, 16)
    ]),
    Row("test_conv2d_transpose", 8, 0, lambda: cases_of_convolution(
        lambda: nn.ConvTranspose2d(5, 7, (2, 2)), 4, 5, 3, 3)),
    Row("test_qadd", 12, 0, cases_of_quantised_arithmetic),
    Row("test_qlinear", 1, 0, lambda: [case(quantised_linear(), codes(2, 32, scale=0.05, zero_point=130))]),
    Row("test_seblock_mul", 1, 0, lambda: [case(torch.mul, nhwc(floats(2, 3, 4, 4)), floats(1, 3, 1, 1))]),
    Row("test_multi_output", 1, 0, lambda: [case(lambda x, y: (x + y, x - y), floats(2), floats(2))]),
]

CONVERSIONS = 227
REFUSED_THERE = 14
OTHER_SCALES = 6
