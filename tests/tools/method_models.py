# SPDX-License-Identifier: BSD-3-Clause
"""Models with several exported methods."""

from typing import Tuple

import torch
from torch import nn


class Coder(nn.Module):
    """encode and decode share a weight; forward uses it, too, and has a layer of its own."""

    def __init__(self):
        super().__init__()
        self.shared = nn.Parameter(torch.randn(64, 64) / 8)
        self.head = nn.Linear(64, 5)

    def forward(self, x):
        return self.head(torch.erf(torch.nn.functional.linear(x, self.shared)))

    @torch.jit.export
    def encode(self, x):
        return torch.relu(torch.nn.functional.linear(x, self.shared))

    @torch.jit.export
    def decode(self, code: torch.Tensor, strength: float = 1.0):
        return torch.tanh(torch.nn.functional.linear(code, self.shared)) * strength


class Pictures(nn.Module):
    """Convolutions, and a result of several tensors."""

    def __init__(self):
        super().__init__()
        self.there, self.back = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, picture):
        return self.back(self.encode(picture)[0])

    @torch.jit.export
    def encode(self, picture) -> Tuple[torch.Tensor, torch.Tensor]:
        code = torch.relu(self.there(picture))
        return code, code.mean([2, 3])

    @torch.jit.export
    def decode(self, code):
        return torch.sigmoid(self.back(code))


class Large(nn.Module):
    """encode's values leave float16's range between its layers."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow = nn.Linear(16, 16), nn.Linear(16, 4)
        with torch.no_grad():
            self.wide.weight *= 1e6
            self.narrow.weight *= 1e-6

    @torch.jit.export
    def encode(self, x):
        return self.narrow(torch.relu(self.wide(x)))

    @torch.jit.export
    def decode(self, x):
        return torch.tanh(x) * 2


class Stream(nn.Module):
    """step changes attributes that peek, reset_states and forward read or change."""

    def __init__(self):
        super().__init__()
        self.layer, self.out = nn.Linear(32, 32), nn.Linear(32, 8)
        self.state = torch.zeros(1, 32)
        self.register_buffer("steps", torch.zeros(1))
        self.gain = torch.ones(1)

    def forward(self, x):
        return self.out(torch.tanh(self.layer(x) + self.state)) + self.steps

    @torch.jit.export
    def step(self, x):
        self.state = torch.tanh(self.layer(x) + 0.5 * self.state)
        self.steps += 1
        return self.out(self.state)

    @torch.jit.export
    def peek(self, x):
        return self.out(torch.relu(self.layer(x)) + self.state) * self.gain

    @torch.jit.export
    def set_gain(self, gain: float) -> None:
        self.gain = torch.full([1], gain)

    @torch.jit.export
    def reset_states(self) -> None:
        self.state = torch.zeros(1, 32)
        self.steps.zero_()
        self.gain = torch.ones(1)


class Growing(nn.Module):
    """add lets an attribute grow, and mean reads it."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)
        self.seen = torch.zeros(1, 16)

    def forward(self, x):
        return self.layer(x)

    @torch.jit.export
    def add(self, x):
        self.seen = torch.cat([self.seen, self.layer(x)])
        return torch.relu(self.layer(x))

    @torch.jit.export
    def mean(self, x):
        return torch.relu(self.layer(self.seen + x)).mean(0) + torch.tanh(self.layer(x))[0]


class OnlyMethods(nn.Module):
    """No forward."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    @torch.jit.export
    def encode(self, x):
        return torch.relu(self.layer(x))
