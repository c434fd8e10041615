# SPDX-License-Identifier: BSD-3-Clause
"""Models that keep state in their attributes from call to call, as audio models do."""

from typing import Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn


class VoiceDetector(nn.Module):
    """Convolutions and an LSTM cell; two rates."""

    def __init__(self):
        super().__init__()
        self.low = nn.Conv1d(1, 32, 128, stride=32)
        self.high = nn.Conv1d(1, 32, 256, stride=64)
        self.first = nn.Conv1d(32, 64, 3, padding=1)
        self.second = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.cell = nn.LSTMCell(64, 64)
        self.last = nn.Linear(64, 2)
        self.h = torch.zeros(1, 64)
        self.c = torch.zeros(1, 64)
        self.last_rate = 0

    @torch.jit.export
    def reset_states(self, batch_size: int = 1):
        self.h = torch.zeros(batch_size, 64)
        self.c = torch.zeros(batch_size, 64)
        self.last_rate = 0

    def checked(self, x: Tensor, sr: int) -> Tensor:
        if x.dim() == 1:
            x = x.unsqueeze(0)
        if x.dim() > 2:
            raise ValueError("too many dimensions")
        if sr not in [8000, 16000]:
            raise ValueError("another rate")
        return x

    def forward(self, x: Tensor, sr: int):
        x = self.checked(x, sr).unsqueeze(1)
        if self.last_rate != 0 and self.last_rate != sr:
            self.reset_states(x.size(0))
        y = self.low(x) if sr == 8000 else self.high(x)
        y = torch.relu(self.second(torch.relu(self.first(torch.relu(y)))))
        h, c = self.cell(y.mean(2), (self.h, self.c))
        self.h = h
        self.c = c
        self.last_rate = sr
        return torch.sigmoid(self.last(h))


class Denoiser(nn.Module):
    """A GRU with its state in a buffer."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(160, 128)
        self.gru = nn.GRU(128, 128, batch_first=True)
        self.decoder = nn.Linear(128, 160)
        self.register_buffer("state", torch.zeros(1, 1, 128))

    @torch.jit.export
    def reset_states(self):
        self.state = torch.zeros(1, 1, 128)

    def forward(self, x: Tensor) -> Tensor:
        y, state = self.gru(torch.relu(self.encoder(x)), self.state)
        self.state = state
        return x * torch.sigmoid(self.decoder(y))


class Separator(nn.Module):
    """Convolutions over what is kept of the last call, and an LSTM; both states are None before the first call."""

    cache: Optional[Tensor]
    state: Optional[Tuple[Tensor, Tensor]]

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(16, 64, 3)
        self.second = nn.Conv1d(64, 32, 3, dilation=2)
        self.lstm = nn.LSTM(32, 32)
        self.last = nn.Linear(32, 4)
        self.cache = None
        self.state = None

    @torch.jit.export
    def reset_states(self):
        self.cache = None
        self.state = None

    def forward(self, x: Tensor) -> Tensor:
        cache = self.cache
        if cache is None:
            cache = torch.zeros(x.size(0), 16, 6)
        joined = torch.cat([cache, x], 2)
        self.cache = joined[:, :, -6:]
        y = torch.relu(self.second(torch.relu(self.first(joined)))).permute(2, 0, 1)
        state = self.state
        if state is None:
            y, new = self.lstm(y)
        else:
            y, new = self.lstm(y, state)
        self.state = new
        return self.last(y).permute(1, 2, 0)


class Handed(nn.Module):
    """Layers and a cell whose states, None before the first call, are handed to them and taken back as they are."""

    lstm_state: Optional[Tuple[Tensor, Tensor]]
    gru_state: Optional[Tensor]
    cell_state: Optional[Tuple[Tensor, Tensor]]

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(32, 48, 2, batch_first=True)
        self.gru = nn.GRU(48, 40, batch_first=True)
        self.cell = nn.LSTMCell(40, 24)
        self.last = nn.Linear(64, 8)
        self.lstm_state = None
        self.gru_state = None
        self.cell_state = None

    @torch.jit.export
    def reset_states(self):
        self.lstm_state = None
        self.gru_state = None
        self.cell_state = None

    def forward(self, x: Tensor) -> Tensor:
        y, self.lstm_state = self.lstm(x, self.lstm_state)
        y, self.gru_state = self.gru(y, self.gru_state)
        h, c = self.cell(y[:, -1], self.cell_state)
        self.cell_state = (h, c)
        return self.last(torch.cat([y[:, -1], c], 1))


class Stacked(nn.Module):
    """A cell per layer, whose states are elements of one list, and a second list that is made anew in each call."""

    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList(nn.GRUCell(64, 64) for _ in range(3))
        self.last = nn.Linear(64, 32)
        self.states = [torch.zeros(1, 64) for _ in range(3)]
        self.past = [torch.zeros(1, 64), torch.zeros(1, 64)]

    @torch.jit.export
    def reset_states(self):
        self.states = [torch.zeros(1, 64) for _ in range(3)]
        self.past = [torch.zeros(1, 64), torch.zeros(1, 64)]

    def forward(self, x: Tensor) -> Tensor:
        for i, cell in enumerate(self.cells):
            x = cell(x, self.states[i])
            self.states[i] = x
        older, old = self.past
        self.past = [old, x]
        return self.last(x + torch.tanh(older))


class StackedOfAnySize(nn.Module):
    """Lists of states whose lengths, elements' sizes and places change from call to call."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)
        self.queue = [torch.zeros(1, 64)]
        self.growing = [torch.zeros(1, 64), torch.zeros(1, 64)]
        self.ring = [torch.zeros(1, 64), torch.zeros(1, 64), torch.zeros(1, 64)]
        self.first = [torch.zeros(1, 64)]
        self.second = [torch.zeros(1, 64)]
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.queue.append(self.layer(x))
        oldest = self.queue[0]
        if len(self.queue) > 3:
            oldest = self.queue.pop(0)
        self.growing[1] = torch.cat([self.growing[1], self.layer(x)])
        self.ring[self.calls % 3] = self.layer(x + self.ring[0])
        self.calls += 1
        both = [torch.cat([x, x])] if self.calls > 2 else [x]
        self.first = both
        self.second = both
        self.first[0] = torch.relu(self.layer(x))
        y = self.layer(self.growing[1]).mean(0, keepdim=True) + self.layer(self.second[0]).sum(0, keepdim=True)
        return y + self.layer(oldest) + self.layer(self.ring[1])


class Growing(nn.Module):
    """Its state has another size after each call, and a copy of a part that has the same."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(32, 32)
        self.all = torch.zeros(1, 32)
        self.sum = torch.zeros(32)

    def forward(self, x: Tensor) -> Tensor:
        self.all = torch.cat([self.all, self.layer(x)])
        self.sum = self.sum + self.layer(self.all.mean(0))
        return self.layer(self.sum) + self.all.sum(0)


class Widening(nn.Module):
    """Its state is float in the first call, double in the others, and of another size in one of two branches."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)
        self.kept = torch.zeros(1, 64)
        self.other = torch.zeros(1, 64)

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer(x) + self.kept.float() + self.other.sum()
        self.kept = y.double()
        self.other = y if bool(y.sum() > 0) else torch.cat([y, y])
        return torch.relu(self.layer(y))


class Keyed(nn.Module):
    """Its state is an element of a dict."""
    kept: Dict[str, Tensor]

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)
        self.kept = {"sum": torch.zeros(1, 64)}

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(self.layer(x)) + self.kept["sum"]
        self.kept["sum"] = y
        return y


class Pairs(nn.Module):
    """Branches give tuples, of which one element always has the same size."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)

    def forward(self, x: Tensor) -> Tensor:
        pair = (x, torch.relu(x))
        if bool(x.sum() > 0):
            pair = (torch.cat([x, x]), torch.sigmoid(x))
        return self.layer(pair[0]).sum(0, keepdim=True) + self.layer(torch.tanh(self.layer(pair[1])))


class Counted(nn.Module):
    """Methods that can be kept, and some that can't."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)
        self.calls = 0
        self.scale = 2.0
        self.offset = 0.5
        self.last_note = ""

    @torch.jit.export
    def count(self, times: float) -> float:
        if times > 100.0:
            raise ValueError("too often")
        return self.calls * times + self.offset

    @torch.jit.export
    def note(self, text: str):
        self.last_note = text

    @torch.jit.export
    def notes(self) -> str:
        return self.last_note + str(self.calls)

    @torch.jit.export
    def set_scale(self, scale: float):
        self.scale = scale

    @torch.jit.export
    def weighted(self) -> Tensor:
        return self.layer.weight * self.calls

    @torch.jit.export
    def helper(self, x: Tensor) -> Tensor:
        return x + 1

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return self.layer(self.helper(x)) * (self.scale + self.calls)


class Cache(nn.Module):
    """Keys of a fixed number of places, one of which each call writes anew."""
    LENGTH = 12

    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, self.LENGTH, 32))
        self.key = nn.Linear(32, 32)
        self.deep = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))

    def forward(self, x: torch.Tensor, place: torch.Tensor):
        self.keys.index_copy_(1, place, self.key(x))
        return self.deep(self.keys)


class Pyramid(nn.Module):
    """Puts a list into an attribute, adds to it and reads it, all in one call."""
    levels: List[Tensor]

    def __init__(self):
        super().__init__()
        self.levels = []
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.last = nn.Conv2d(4, 4, 3, padding=1)

    def build(self, x):
        self.levels = [x]
        for _ in range(2):
            x = nn.functional.avg_pool2d(torch.relu(self.conv(x)), 2)
            self.levels.append(x)

    def forward(self, x):
        self.build(x)
        total = torch.zeros_like(x)
        for i, level in enumerate(self.levels):
            total = total + self.last(nn.functional.interpolate(level, scale_factor=float(2 ** i)))
        return total.tanh()


class EmptyAtFirst(nn.Module):
    """A voice detector whose state and context have no elements before the first call and after a reset."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 32, 64, stride=16)
        self.second = nn.Conv1d(32, 64, 3, padding=1)
        self.cell = nn.LSTMCell(64, 64)
        self.last = nn.Linear(64, 1)
        self.state = torch.zeros(0)
        self.context = torch.zeros(0)
        self.last_rate: int = 0

    @torch.jit.export
    def reset_states(self):
        self.state = torch.zeros(0)
        self.context = torch.zeros(0)
        self.last_rate = 0

    def forward(self, x: Tensor, sr: int) -> Tensor:
        if self.last_rate != 0 and self.last_rate != sr:
            self.reset_states()
        if not len(self.context):
            self.context = torch.zeros(x.size(0), 32)
        x = torch.cat([self.context, x], 1)
        y = torch.relu(self.second(torch.relu(self.first(x.unsqueeze(1))))).mean(2)
        if len(self.state):
            h, c = self.cell(y, (self.state[0], self.state[1]))
        else:
            h, c = self.cell(y)
        self.state = torch.stack([h, c])
        self.context = x[:, -32:]
        self.last_rate = sr
        return torch.cat([torch.sigmoid(self.last(h)), h], 1)


class EmptyInAVariable(nn.Module):
    """The state is read once, and replaced where it has no elements."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(32, 64)
        self.cell = nn.GRUCell(64, 64)
        self.state = torch.zeros(0)

    def forward(self, x: Tensor) -> Tensor:
        state = self.state
        if state.numel() == 0:
            state = torch.zeros(x.size(0), 64)
        self.state = self.cell(torch.relu(self.linear(x)), state)
        return self.state.clone()


class Collected(nn.Module):
    """What is read may have no elements: the layers behind it have another size in each call."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.last = nn.Linear(64, 64)
        self.seen = torch.zeros(0, 64)

    def forward(self, x: Tensor) -> Tensor:
        self.seen = torch.cat([self.seen, torch.tanh(self.first(x))])[-3:]
        return self.last(self.seen).sum(0)


class Interleaved(nn.Module):
    """The second attribute is read after the first one was set."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.second = nn.Linear(64, 64)
        self.one = torch.zeros(1, 64)
        self.other = torch.zeros(1, 64)

    def forward(self, x: Tensor) -> Tensor:
        self.one = torch.tanh(self.first(x + self.one))
        self.other = torch.tanh(self.second(self.one + self.other))
        return self.other + self.one


class Emptied(nn.Module):
    """Some calls leave a part of a tensor that has no elements, and layers read it."""

    def __init__(self):
        super().__init__()
        self.start = nn.Linear(64, 64)
        self.first = nn.Linear(64, 64)
        self.last = nn.Linear(64, 64)
        self.state = torch.zeros(0)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(self.start(x))
        if len(self.state):
            y = y + self.state
        y = torch.tanh(self.first(y))
        if bool(x.mean() > 0):
            self.state = y
        else:
            self.state = y.new_zeros([0, 64])
        return y + self.last(self.state).sum(0)
