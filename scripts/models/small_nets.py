# SPDX-License-Identifier: BSD-3-Clause
"""The small networks behind the committed fixtures: each shows one thing a converter must get right or refuse."""

from typing import List

import torch
from torch import nn
from torch.ao import quantization


def conv_bn(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> List[nn.Module]:
    conv = nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(outputs)]


class ConvBnRelu6(nn.Sequential):
    def __init__(self):
        super().__init__(*conv_bn(3, 8, stride=2), nn.ReLU6(inplace=True))


class ThreeOperations(nn.Module):
    """Convolution, relu and pooling: the least that passes every stage."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, picture):
        return nn.functional.max_pool2d(torch.relu(self.conv(picture)), 2)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(*conv_bn(3, 8), nn.ReLU(inplace=True))
        self.branch = nn.Sequential(*conv_bn(8, 8), nn.ReLU(inplace=True), *conv_bn(8, 8))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, picture):
        stem = self.stem(picture)
        out = self.branch(stem)
        out += stem
        return self.relu(out)


class Depthwise(nn.Module):
    """One inverted residual of MobileNetV2 and its classifier."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(*conv_bn(3, 8, stride=2), nn.ReLU6(inplace=True))
        expand = [*conv_bn(8, 24, kernel=1), nn.ReLU6(inplace=True)]
        depth = [*conv_bn(24, 24, groups=24), nn.ReLU6(inplace=True)]
        self.block = nn.Sequential(*expand, *depth, *conv_bn(24, 8, kernel=1))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(8, 5))

    def forward(self, picture):
        stem = self.stem(picture)
        body = stem + self.block(stem)
        pooled = nn.functional.adaptive_avg_pool2d(body, (1, 1))
        return self.classifier(torch.flatten(pooled, 1))


class CeilPools(nn.Module):
    """Pools that round up, and a concatenation, as in SqueezeNet."""

    def __init__(self):
        super().__init__()
        self.squeeze = nn.Conv2d(3, 4, 1)
        self.narrow = nn.Conv2d(4, 6, 1)
        self.wide = nn.Conv2d(4, 6, 3, padding=1)

    def forward(self, picture):
        pooled = nn.functional.max_pool2d(picture, 3, stride=2, ceil_mode=True)
        squeezed = torch.relu(self.squeeze(pooled))
        joined = torch.cat([torch.relu(self.narrow(squeezed)), torch.relu(self.wide(squeezed))], 1)
        return nn.functional.max_pool2d(joined, 3, stride=2, ceil_mode=True)


class Quantisable(nn.Module):
    """Convolution with relu, depthwise convolution, quantised addition, mean and linear, between quantise stubs."""

    def __init__(self):
        super().__init__()
        self.quant = quantization.QuantStub()
        self.dequant = quantization.DeQuantStub()
        self.stem = nn.Sequential(*conv_bn(3, 8, stride=2), nn.ReLU())
        self.depth = nn.Sequential(*conv_bn(8, 8, groups=8), nn.ReLU())
        self.point = nn.Sequential(*conv_bn(8, 8, kernel=1))
        self.sum = nn.quantized.FloatFunctional()
        self.linear = nn.Linear(8, 6)

    def forward(self, picture):
        stem = self.stem(self.quant(picture))
        body = self.sum.add(stem, self.point(self.depth(stem)))
        return self.dequant(self.linear(body.mean([2, 3])))

    def fuse(self) -> "Quantisable":
        groups = [["stem.0", "stem.1", "stem.2"], ["depth.0", "depth.1", "depth.2"], ["point.0", "point.1"]]
        return quantization.fuse_modules(self.eval(), groups, inplace=True)


class SmallPerceptron(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 5), nn.Softmax(dim=1))


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Conv2d(3, 4, 3, padding=1)
        self.right = nn.Conv2d(2, 4, 1)

    def forward(self, colour, depth):
        return torch.relu(self.left(colour) + self.right(depth))


class SharedBody(nn.Module):
    """A convolution whose result the subclasses return in various ways."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def body(self, picture):
        return torch.relu(self.conv(picture))


class TupleOutput(SharedBody):
    def forward(self, picture):
        body = self.body(picture)
        return body, body.mean([2, 3])


class ListOutput(SharedBody):
    def forward(self, picture):
        body = self.body(picture)
        return [body.mean([2, 3]), body]


class OutputIsInput(SharedBody):
    def forward(self, picture):
        return self.body(picture), picture


class ConstantOutput(SharedBody):
    def __init__(self):
        super().__init__()
        self.register_buffer("anchors", torch.linspace(-1, 1, 6).reshape(2, 3))

    def forward(self, picture):
        return self.body(picture), self.anchors


class RepeatedOutput(SharedBody):
    def forward(self, picture):
        body = self.body(picture)
        return body, body.mean([2, 3]), body


class UnusedInput(SharedBody):
    def forward(self, picture, ignored):
        return self.body(picture)


class NoOperations(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Identity(), nn.Dropout(0.5))


class SharedWeights(nn.Module):
    """One convolution applied twice, and a second one with equal weights."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(6, 6, 3, padding=1)
        self.twin = nn.Conv2d(6, 6, 3, padding=1)

    def forward(self, picture):
        once = torch.relu(self.conv(picture))
        twice = torch.relu(self.conv(once))
        return self.twin(twice)


class InPlaceOnInput(SharedBody):
    def forward(self, picture):
        picture.relu_()
        return self.conv(picture)


class UnknownOperations(SharedBody):
    """Two nodes that NNAPI has nothing for, on different lines."""

    def forward(self, picture):
        summed = torch.linalg.matrix_exp(self.body(picture))
        rolled = self.conv(picture).roll(1, dims=3)
        spectrum = torch.linalg.matrix_exp(rolled)
        return summed + spectrum


class ControlFlow(nn.Module):
    """Takes one way or the other by the data: for scripting."""

    def __init__(self):
        super().__init__()
        self.bright = nn.Conv2d(3, 4, 3, padding=1)
        self.dark = nn.Conv2d(3, 4, 1)

    def forward(self, picture):
        if picture.sum() > 0:
            return self.bright(picture)
        return self.dark(picture)


class Refused(nn.Module):
    """Two nodes that NNAPI has nothing for, and none that multiplies: no part of it is worth a call."""

    def forward(self, picture):
        summed = torch.linalg.matrix_exp(torch.tanh(picture))
        return summed + torch.linalg.matrix_exp(picture.roll(1, dims=3))
