# SPDX-License-Identifier: BSD-3-Clause
"""Networks whose pictures, texts and sounds have any size. NETWORKS: a class, the open sizes of its arguments, and calls."""

import math
from typing import Dict, List, NamedTuple, Tuple

import torch
from torch import nn
from torch.nn import functional


class TextLine(nn.Module):
    """Reads a line of text of any width: convolutions, then an LSTM along the width."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 16, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, 1, 1), nn.ReLU(),
                                    nn.MaxPool2d(2))
        self.steps, self.last = nn.LSTM(32 * 8, 24, bidirectional=True, batch_first=True), nn.Linear(48, 20)

    def forward(self, x):
        y = self.layers(x).permute(0, 3, 1, 2).flatten(2)
        return self.last(self.steps(y)[0]).log_softmax(-1)


class Text(nn.Module):
    """One layer of attention with positions and a mask of padding."""

    def __init__(self):
        super().__init__()
        self.words, self.positions, self.norm = nn.Embedding(100, 32), nn.Embedding(128, 32), nn.LayerNorm(32)
        self.heads, self.out, self.last = nn.Linear(32, 96), nn.Linear(32, 32), nn.Linear(32, 5)

    def forward(self, t: torch.Tensor, m: torch.Tensor):
        rows, length = t.shape
        x = self.norm(self.words(t) + self.positions(torch.arange(length)))
        q, k, v = self.heads(x).chunk(3, -1)
        q = q.view(rows, length, 4, 8).transpose(1, 2)
        k = k.view(rows, length, 4, 8).transpose(1, 2)
        v = v.view(rows, length, 4, 8).transpose(1, 2)
        scores = q @ k.transpose(2, 3) / math.sqrt(8) + (1.0 - m[:, None, None, :].float()) * -10000.0
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, length, 32)
        return self.last(self.norm(x + self.out(y)))


class UNet(nn.Module):
    """Pads what comes up to the size of its skip, as odd sizes need."""

    def __init__(self):
        super().__init__()
        self.down, self.deep = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(16, 8, 2, 2), nn.Conv2d(16, 2, 3, padding=1)

    def forward(self, x):
        y = functional.relu(self.down(x))
        z = self.up(functional.relu(self.deep(functional.max_pool2d(y, 2))))
        height, width = y.shape[2] - z.shape[2], y.shape[3] - z.shape[3]
        z = functional.pad(z, [width // 2, width - width // 2, height // 2, height - height // 2])
        return self.last(torch.cat([y, z], 1))


class Sound(nn.Module):
    def __init__(self):
        super().__init__()
        self.frames = nn.Sequential(nn.Conv1d(1, 16, 10, 5), nn.GELU(), nn.Conv1d(16, 32, 3, 2), nn.GELU())
        self.attention, self.last = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), nn.Linear(32, 8)

    def forward(self, x):
        return self.last(self.attention(self.frames(x).transpose(1, 2)))


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 16, (20, 8), (1, 3)), nn.ReLU(), nn.Conv2d(16, 16, (5, 4)), nn.ReLU())
        self.last = nn.Linear(16, 12)

    def forward(self, x):
        return self.last(self.layers(x.unsqueeze(1)).amax((2, 3)))


class Best(nn.Module):
    """The best ten places of a picture: gather stays on the CPU."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 32, 3, 2, 1), nn.Conv2d(32, 6, 3, 2, 1)

    def forward(self, x):
        y = self.second(functional.relu(self.first(x))).flatten(2).transpose(1, 2)
        values, places = y[..., 0].sigmoid().topk(10, 1)
        return values, torch.gather(y, 1, places.unsqueeze(-1).expand(-1, -1, 6))


class Patches(nn.Module):
    """Positions are resized to the picture, as transformers of pictures do."""

    def __init__(self):
        super().__init__()
        self.positions, self.patches, self.last = nn.Parameter(torch.randn(1, 16, 7, 7)), nn.Conv2d(3, 16, 4, 4), nn.Linear(16, 16)

    def forward(self, x):
        y = self.patches(x)
        y = y + functional.interpolate(self.positions, size=y.shape[2:], mode="bicubic", align_corners=False)
        return self.last(y.flatten(2).transpose(1, 2)).mean(1)


class Running(nn.Module):
    """Means of all steps so far."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        y = self.first(x).relu()
        return self.last(torch.cumsum(y, 1) / torch.arange(1, x.size(1) + 1)[None, :, None])


class Sorted(nn.Module):
    """Two convolutions, whose odd sizes are rounded down twice, and a step on the CPU."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 16, 3, 2, 1), nn.Conv2d(16, 16, 3, 2, 1)

    def forward(self, x):
        y = functional.relu(self.second(functional.relu(self.first(x))))
        return y * y.mean((2, 3))[:, :, None, None], torch.sort(y.flatten(1), 1, True)[0][:, :5]


class Network(NamedTuple):
    make: type
    inputs: Dict[str, str]  # as --input takes them
    calls: List[Tuple[Tuple[int, ...], ...]]  # sizes of the arguments of each


NETWORKS = [
    Network(TextLine, {"x": "1,1,32,?"}, [((1, 1, 32, width),) for width in (100, 64, 37, 101)]),
    Network(Text, {"t": "1,?:int64", "m": "1,?:int64"}, [((1, length), (1, length)) for length in (12, 7, 33, 1)]),
    Network(UNet, {"x": "1,3,?,?"}, [((1, 3, *size),) for size in ((37, 45), (64, 64), (33, 50), (8, 9))]),
    Network(Sound, {"x": "1,1,?"}, [((1, 1, length),) for length in (400, 777, 123)]),
    Network(Keywords, {"x": "1,?,40"}, [((1, length, 40),) for length in (98, 51, 120)]),
    Network(Best, {"x": "1,3,?,?"}, [((1, 3, *size),) for size in ((40, 56), (33, 77), (64, 20))]),
    Network(Patches, {"x": "1,3,?,?"}, [((1, 3, *size),) for size in ((40, 56), (33, 77), (28, 28))]),
    Network(Running, {"x": "1,?,16"}, [((1, length, 16),) for length in (20, 7, 50)]),
    Network(Sorted, {"x": "1,3,?,?"}, [((1, 3, *size),) for size in ((40, 56), (33, 77), (30, 30), (31, 29))]),
]
