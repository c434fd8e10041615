# SPDX-License-Identifier: BSD-3-Clause
"""Small models, as optimize_for_mobile and dynamic quantisation find them."""

import torch
from torch import nn
from torch.nn import functional as F

RECURRENT = {nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell}


class Clamps(nn.Module):
    """Convolutions, a transposed one and a linear layer, each with another limit behind it."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1, stride=2)
        self.norm = nn.BatchNorm2d(8)
        self.deep = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=8, bias=False)
        self.wide = nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1, groups=2)
        self.last = nn.Linear(4, 6)

    def forward(self, x):
        x = F.relu6(self.norm(self.first(x)))
        x = F.relu(self.deep(x))
        x = F.hardtanh(self.wide(x), -0.3, 0.4)
        return F.relu(self.last(x.permute(0, 2, 3, 1)))


class Residual(nn.Module):
    """A sum whose relu optimize_for_mobile fuses into it, in place or not."""

    def __init__(self, in_place):
        super().__init__()
        self.in_place = in_place
        self.conv = nn.Conv2d(3, 8, 1)
        self.inner = nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x):
        x = self.conv(x)
        y = self.inner(x)
        if self.in_place:
            y += x
            return F.relu_(y)
        return F.relu(y + x)


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(10, 16)
        self.lstm = nn.LSTM(16, 20, 2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(40, 12)
        self.last = nn.Linear(12, 5)

    def forward(self, x):
        x, (h, c) = self.lstm(torch.relu(self.first(x)))
        x, g = self.gru(x)
        return self.last(x), h, c, g


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTMCell(10, 12)
        self.gru = nn.GRUCell(12, 8)
        self.tanh = nn.RNNCell(8, 6)
        self.relu = nn.RNNCell(6, 5, nonlinearity="relu")

    def forward(self, x):
        h, c = self.lstm(x)
        g = self.gru(h)
        return self.relu(self.tanh(g)), c, g


def images(seed=0, size=16):
    return torch.randn(1, 3, size, size, generator=torch.Generator().manual_seed(seed))


def seeded(make):
    torch.manual_seed(1)
    return make().eval()


def dynamic(model):
    return torch.quantization.quantize_dynamic(model, {nn.Linear} | RECURRENT, dtype=torch.qint8)


def rounded(model):
    """Returns the float model with the rounded weights of its dynamically quantised form."""
    quantised = dynamic(model)
    modules = dict(quantised.named_modules())
    with torch.no_grad():
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear):
                module.weight.copy_(modules[name].weight().dequantize())
            elif isinstance(module, (nn.LSTM, nn.GRU)):
                round_layers(module, modules[name])
            elif type(module) in RECURRENT:
                module.weight_ih.copy_(unpacked(modules[name]._packed_weight_ih))
                module.weight_hh.copy_(unpacked(modules[name]._packed_weight_hh))
    return model


def round_layers(module, quantised):
    cells = iter(quantised._all_weight_values)
    for names in module._all_weights:
        of_input, of_hidden = next(cells).param.__getstate__()[0][4]
        getattr(module, names[0]).copy_(unpacked(of_input))
        getattr(module, names[1]).copy_(unpacked(of_hidden))


def unpacked(packed):
    return torch.ops.quantized.linear_unpack(packed)[0].dequantize()
