# SPDX-License-Identifier: BSD-3-Clause
"""Scripted networks of PyTorch's own modules, and of lists and dicts, with the shapes of their inputs."""

from typing import Dict, List, Tuple

import torch
from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    """Takes PyTorch's fast path."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


class CrossAttention(nn.Module):
    """Joins lists of the parts of the key and value; the query is a constant."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4)
        self.query = nn.Parameter(torch.randn(3, 2, 16))

    def forward(self, x):
        return self.attention(torch.tanh(self.query), x, x)[0]


class EncoderAndDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = nn.Transformer(16, 4, 1, 2, 32)

    def forward(self, x, y):
        return self.transformer(x, y)


class PaddedEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x):
        hidden = x[:, :, 0] > 1
        return self.encoder(x, src_key_padding_mask=hidden)


class NestedEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2)

    def forward(self, x, hidden):
        return self.encoder(x, src_key_padding_mask=hidden)


class FirstOfNested(NestedEncoder):
    def forward(self, x, hidden):
        return self.encoder(x, src_key_padding_mask=hidden)[:, 0]


class NestedLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(16, 8), nn.Linear(8, 4)

    def forward(self, x, hidden):
        nested = torch._nested_tensor_from_mask(x, hidden.logical_not())
        y = torch.relu(self.first(nested)) * 0.5
        if y.is_nested:
            y = self.last(y)
        return y.to_padded_tensor(-1.0)


class SoftNested(NestedLayers):
    def forward(self, x, hidden):
        nested = torch._nested_tensor_from_mask(self.first(x), hidden.logical_not())
        return self.last(torch.softmax(nested, -1).to_padded_tensor(0.0))


class Forked(nn.Module):
    """Towers that run beside the model, by themselves and in a list."""

    def __init__(self):
        super().__init__()
        self.towers = nn.ModuleList([nn.Linear(8, 6), nn.Linear(8, 6), nn.Linear(8, 6)])

    def run(self, x, number: int):
        for i, tower in enumerate(self.towers):
            if i == number:
                x = torch.relu(tower(x))
        return x

    def forward(self, x):
        waiting: List[torch.jit.Future[torch.Tensor]] = []
        for tower in self.towers:
            waiting.append(torch.jit.fork(tower, x))
        one = torch.jit.fork(self.run, x, 1)
        y = torch.tanh(self.run(x, 0))
        for each in waiting:
            y = y * 0.5 + torch.jit.wait(each)
        return torch.jit.wait(one) - y


class ResizedTo(nn.Module):
    """F.interpolate, which ends with an error in branches that aren't taken."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2, padding=1)

    def forward(self, x):
        return F.interpolate(self.conv(x), x.size()[2:], mode="bilinear", align_corners=True)


class Comprehension(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 12, 3, padding=1)

    def forward(self, x):
        a, b, c = [torch.sigmoid(part) + 1 for part in self.conv(x).chunk(3, 1)]
        return a * b - c


class OverlapAdd(nn.Module):
    """A loop adds the windows of a signal to the places where they lie."""

    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Conv1d(1, 6, 8, 4), nn.Conv1d(6, 8, 1)

    def forward(self, x):
        y = self.decoder(torch.relu(self.encoder(x)))
        out = torch.zeros(y.size(0), 1, (y.size(2) - 1) * 4 + 8)
        for i in range(y.size(2)):
            out[:, :, i * 4:i * 4 + 8] += y[:, :, i].unsqueeze(1)
        return out


class SkipList(nn.Module):
    """A U-Net with a list of the tensors that its way up reads, the last first."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)])
        self.up = nn.ModuleList([nn.Conv2d(8, 4, 3, padding=1), nn.Conv2d(8, 2, 3, padding=1)])

    def way_down(self, x) -> Tuple[torch.Tensor, List[torch.Tensor]]:
        kept: List[torch.Tensor] = []
        for layer in self.down:
            x = torch.relu(layer(x))
            kept.append(x)
            x = F.avg_pool2d(x, 2)
        return x, kept

    def forward(self, x):
        x, kept = self.way_down(x)
        for layer in self.up:
            x = layer(torch.cat([F.interpolate(x, scale_factor=2.0), kept.pop()], 1))
        return x


class ReversedSkipList(SkipList):
    def forward(self, x):
        x, kept = self.way_down(x)
        kept = kept[::-1]
        for i, layer in enumerate(self.up):
            x = F.interpolate(x, scale_factor=2.0)
            if x.shape[2:] != kept[i].shape[2:]:
                x = F.interpolate(x, size=kept[i].shape[2:])
            x = layer(torch.cat([x, kept[i]], 1))
        return x


class Pyramid(nn.Module):
    """Features by name, as torchvision's networks hand them on."""

    def __init__(self):
        super().__init__()
        self.fine, self.coarse = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, stride=2, padding=1)
        self.heads = nn.ModuleDict({"fine": nn.Conv2d(4, 2, 1), "coarse": nn.Conv2d(4, 2, 1)})

    def forward(self, x):
        features: Dict[str, torch.Tensor] = {}
        features["fine"] = torch.relu(self.fine(x))
        features["coarse"] = self.coarse(features["fine"])
        found: Dict[str, torch.Tensor] = {}
        for name, head in self.heads.items():
            found[name] = head(features[name])
        return found["fine"] + F.interpolate(found["coarse"], scale_factor=2.0)


PICTURE = [(1, 3, 16, 16)]
MODELS = {
    SelfAttention: [(2, 5, 16)],
    CrossAttention: [(5, 2, 16)],
    EncoderAndDecoder: [(5, 2, 16), (3, 2, 16)],
    PaddedEncoder: [(2, 5, 16)],
    Forked: [(3, 8)],
    ResizedTo: PICTURE,
    Comprehension: PICTURE,
    OverlapAdd: [(1, 1, 64)],
    SkipList: PICTURE,
    ReversedSkipList: PICTURE,
    Pyramid: PICTURE,
}
