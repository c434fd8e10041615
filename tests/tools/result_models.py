# SPDX-License-Identifier: BSD-3-Clause
"""Models of [1, 3, H, W] that give lists and dicts whose elements have several types."""

from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 16, 3)


class Detector(Net):
    def forward(self, x):
        y = self.conv(x)
        return {"logits": y, "aux": [y.sum(1), torch.tanh(y)]}


class Mixed(Net):
    def forward(self, x):
        y = self.conv(x)
        return [y, (torch.tanh(y), y * 2)]


class Nested(Net):
    def forward(self, x):
        y = self.conv(x)
        return y, {"a": [y * 2, (y, torch.tanh(y))], "b": [torch.sigmoid(y), (y, y + 1)]}


class Found(NamedTuple):
    logits: torch.Tensor
    features: torch.Tensor


class FoundMore(NamedTuple):
    first: Found
    extra: Optional[torch.Tensor]


class Named(Net):
    def forward(self, x) -> Found:
        y = self.conv(x)
        return Found(torch.tanh(y), y)


class NamedInNamed(Net):
    def forward(self, x) -> FoundMore:
        y = self.conv(x)
        return FoundMore(Found(torch.tanh(y), y), y.mean((2, 3)))


class NamedInContainers(Net):
    def forward(self, x) -> Tuple[Found, List[Found], Dict[str, Found]]:
        y = self.conv(x)
        found = Found(torch.tanh(y), y)
        return found, [found, Found(y, y * 2)], {"a": Found(torch.sigmoid(y), x)}
