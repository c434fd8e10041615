# SPDX-License-Identifier: BSD-3-Clause
"""Quantised models that NNAPI can't run whole: operations without a rule, quantised and float, between others."""

from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import nn

from stock_torch import images

ao = torch.ao.quantization


def conv(channels: int, filters: int = 8) -> nn.Conv2d:
    return nn.Conv2d(channels, filters, 3, padding=1)


class Stubs(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = ao.QuantStub(), ao.DeQuantStub()
        self.first, self.second = conv(3), conv(8)


class Sorted(Stubs):
    """A quantised tensor goes to the CPU and comes back."""

    def forward(self, picture):
        x = self.first(self.quant(picture))
        return self.dequant(self.second(torch.sort(x, 3)[0]))


class Ends(Stubs):
    """Operations that NNAPI lacks are next to both ends."""

    def forward(self, picture):
        x = torch.sort(self.quant(picture), 3)[0]
        return self.dequant(torch.sort(self.second(self.first(x)), 3)[0])


class Island(Stubs):
    """Float in between."""

    def __init__(self):
        super().__init__()
        self.again = ao.QuantStub()

    def forward(self, picture):
        x = self.dequant(self.first(self.quant(picture)))
        return self.dequant(self.second(self.again(torch.nextafter(x, torch.zeros(1)))))


class TwoInputs(Stubs):
    """Two inputs and several results; the model also reads one of the results."""

    def __init__(self):
        super().__init__()
        self.other_quant, self.other = ao.QuantStub(), conv(3)
        self.sum = torch.ao.nn.quantized.FloatFunctional()

    def forward(self, picture, other):
        x = torch.sort(self.first(self.quant(picture)), 3)[0]
        y = self.other(self.other_quant(other))
        lengths = self.dequant(y)
        total = self.second(self.sum.add(x, y))
        return self.dequant(total), (lengths, self.dequant(x))


class Returns(Stubs):
    """Scripted, with its results in a dict and a list."""

    def forward(self, picture) -> Dict[str, List[torch.Tensor]]:
        x = self.first(self.quant(picture))
        y = self.second(torch.sort(x, 3)[0])
        return {"deep": [self.dequant(y)], "all": [self.dequant(x), self.dequant(y)]}


class Branching(Stubs):
    """Scripted: which way is taken depends on values; both give the same scale."""

    def __init__(self):
        super().__init__()
        self.third = conv(8)

    def forward(self, picture):
        x = self.second(self.first(self.quant(picture)))
        if bool(self.dequant(x).mean() > 0.02):
            x = torch.sort(x, 3)[0]
        i = 0
        while bool(self.dequant(x).max() > 0.3) and i < 3:
            x = torch.flip(torch.relu(x), [2])
            i += 1
        return self.dequant(self.third(x))


class OneOfTwo(Stubs):
    """Scripted: each branch gives a scale of its own."""

    def __init__(self):
        super().__init__()
        self.third = conv(8)

    def chosen(self, picture):
        x = self.first(self.quant(picture))
        if bool(self.dequant(x).mean() > 0.02):
            x = self.second(x)
        else:
            x = self.third(x)
        return x

    def forward(self, picture):
        return self.dequant(self.chosen(picture))


class OneOfTwoScales(OneOfTwo):
    """Returns the quantised result without dequantising it."""

    def forward(self, picture):
        return self.chosen(picture)


class OneOfTwoFloats(OneOfTwo):
    """Dequantises the result in the branches."""

    def forward(self, picture):
        x = self.first(self.quant(picture))
        if bool(self.dequant(x).mean() > 0.02):
            return self.dequant(self.second(x))
        return self.dequant(self.third(x))


class Mixed(Stubs):
    """The input is read as float too."""

    def forward(self, picture):
        x = self.second(torch.sort(self.first(self.quant(picture)), 3)[0])
        return self.dequant(x) + torch.nextafter(picture, torch.zeros(1)).mean()


class FloatRead(Stubs):
    """The input is read as float too; the result is a quantised one."""

    def forward(self, picture):
        x = self.second(torch.sort(self.first(self.quant(picture)), 3)[0])
        if bool(torch.nextafter(picture, torch.zeros(1)).mean() > 0):
            x = torch.relu(x)
        return self.dequant(x)


class FloatResult(Stubs):
    """The last operation is a float one."""

    def forward(self, picture):
        return torch.nextafter(self.dequant(self.second(self.first(self.quant(picture)))), torch.zeros(1))


class TakesList(Stubs):
    """Scripted: pictures of two sizes in a list."""

    def forward(self, pictures: List[torch.Tensor], flag: bool = True):
        results: List[torch.Tensor] = []
        for picture in pictures:
            x = torch.sort(self.first(self.quant(picture)), 3)[0]
            results.append(self.dequant(self.second(x)))
        return results


Pair = NamedTuple("Pair", [("deep", torch.Tensor), ("flat", torch.Tensor)])


class TakesDict(Stubs):
    """Scripted: a dict, a tuple that may be left out, and a result of a class of its own."""

    def __init__(self):
        super().__init__()
        self.sum = torch.ao.nn.quantized.FloatFunctional()

    def forward(self, pictures: Dict[str, torch.Tensor], more: Optional[Tuple[torch.Tensor]] = None):
        x = self.first(self.quant(pictures["large"]))
        y = self.first(self.quant(pictures["small"]))
        if more is not None:
            y = self.sum.add(y, self.first(self.quant(more[0])))
        return Pair(self.dequant(self.second(torch.sort(x, 3)[0])), self.dequant(y))


class Changed(Stubs):
    """Scripted: quantised tensors are changed in place, behind the first operation and before the last."""

    def forward(self, picture):
        q = self.quant(picture)
        if bool(self.dequant(q).mean() > -10):
            q[:, 0].copy_(q[:, 1])
        x = self.second(torch.sort(self.first(q), 3)[0])
        before = self.dequant(x)
        if bool(before.mean() > -10):
            x[:, 0].copy_(x[:, 1])
        return before, self.dequant(x)


class Keeps(Stubs):
    """Scripted: keeps the quantised input for the next call. `last` has to be set to a quantised tensor."""

    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(1, 3, 16, 16))

    def forward(self, picture):
        q = self.quant(picture)
        x = self.second(torch.sort(self.first(q), 3)[0])
        if bool(self.dequant(self.last).mean() > 0.5):
            x = torch.relu(x)
        self.last = q
        return self.dequant(x)


class AnyNumber(Stubs):
    """Scripted: how many results there are depends on values; which of them are quantised isn't known."""

    def forward(self, picture):
        x = self.second(torch.sort(self.first(self.quant(picture)), 3)[0])
        results = [self.dequant(x)]
        if bool(results[0].mean() > 0.02):
            results.append(self.dequant(torch.relu(x)))
        return results


class Pooled(Stubs):
    """Pools that QNNPACK computes otherwise than PyTorch defines them, and some that it doesn't."""

    def forward(self, picture):
        x = self.first(self.quant(picture))
        x = nn.functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
        x = nn.functional.avg_pool2d(x, 2, 1, divisor_override=3)
        x = nn.functional.max_pool2d(x, 3, 1, 1, dilation=2)
        x = nn.functional.avg_pool2d(nn.functional.max_pool2d(x, 3, 1, 1), 3, 1, 1)
        return self.dequant(self.second(x))


class QuantisedInterface(Stubs):
    """Takes and gives quint8."""

    def forward(self, picture):
        return self.second(torch.sort(self.first(picture), 3)[0])


def quantised(net: nn.Module, *shapes, as_list: bool = False) -> nn.Module:
    """Calibrated on pictures of these shapes."""
    torch.backends.quantized.engine = "qnnpack"
    net.eval().qconfig = ao.get_default_qconfig("qnnpack")
    prepared = ao.prepare(net)
    for seed in range(4):
        samples = pictures(*shapes, seed=seed)
        prepared(samples) if as_list else prepared(*samples)
    return ao.convert(prepared)


def pictures(*shapes, seed: int = 0) -> List[torch.Tensor]:
    return [images(*shape, seed=10 * seed + number) for number, shape in enumerate(shapes)]
