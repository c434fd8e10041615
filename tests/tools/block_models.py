# SPDX-License-Identifier: BSD-3-Clause
"""Scripted models whose branches and loops depend on values, with work for NNAPI inside of them."""

import pathlib
import warnings
from typing import Dict, List

import torch
from torch import nn


class Layers(nn.Module):
    """Takes [1, 4, 8, 8]."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(4, 4, 3, padding=1)
        self.second = nn.Conv2d(4, 4, 3, padding=1)


class Rounds(Layers):
    """A loop whose body reads a value from outside."""

    def forward(self, x):
        outside = self.second(x)
        while bool(x.abs().max() > 0.2):
            x = torch.tanh(self.first(x)) * 0.4 + 0.001 * outside
        return x + outside


class Ways(Layers):
    """Branches in a loop in a branch."""

    def forward(self, x):
        y = self.first(x)
        total = torch.zeros(1, 4, 8, 8)
        for i in range(int(x.abs().max().item()) + 1):
            if bool(y.mean() > 0):
                rest = torch.tanh(self.second(y) - y)
                for _ in range(2 + i):
                    rest = torch.relu(self.first(rest)) * 0.2 + y
                    total[:, :2] += rest[:, 2:]
                y = torch.tanh(rest)
            else:
                y = self.second(y) * 0.5 + 0.1
        return y + total


class Raising(Layers):
    """One of the branches ends the run."""

    def forward(self, x):
        y = self.first(x)
        if bool(x.mean() > 1000):
            raise RuntimeError("too large")
        else:
            y = self.second(y)
        return self.first(torch.relu(y))


class NumberScattered(Layers):
    """A number that is read from a tensor is known only when the model runs; no shape depends on it."""

    def forward(self, x):
        y = self.first(x)
        z = torch.scatter(y, 3, torch.zeros(1, 4, 8, 8, dtype=torch.long), float(y.sum()))
        return self.second(z)


class Growing(Layers):
    """The loop's state has another size in each round."""

    def forward(self, x):
        i = 0
        while bool(x.mean() > -100) and i < 3:
            x = torch.cat([self.first(x), self.second(x)], 2)
            i += 1
        return self.first(x)


class ChangedByRounds(Layers):
    """A loop without results changes a tensor from outside; NNAPI can't count its rounds."""

    def forward(self, x):
        y = self.first(x)
        total = torch.zeros(1, 4, 8, 8)
        if bool(x.mean() > -1):
            for _ in range(int(torch.nextafter(x[:, :, :4, :4] * 0.01, torch.zeros(1)).abs().max()) + 1):
                total[:, 1:] += torch.tanh(y)[:, :1]
        return self.second(y) + total


class ViewChanged(Layers):
    """A branch changes a value through its view; NNAPI runs the operations that read it before and after."""

    def forward(self, x):
        y = self.first(x)
        view = y[:, :2]
        z = self.second(y)
        if bool(x.mean() > 0):
            view.mul_(2.0)
            z = z + self.second(y)
        return z + self.first(y)


class CarriedView(Layers):
    """A loop changes its state in place."""

    def forward(self, x):
        y = self.first(x)
        v = y
        for _ in range(int(x.abs().max() * 3)):
            z = self.second(v)
            y[:, :1].add_(0.1)
            v = torch.tanh(v + z * 0.1)
            y = v
        return v + y


class Turned(Layers):
    """A branch gives a tensor other sizes in place."""

    def forward(self, x):
        y = self.first(x)
        if bool(x.mean() > 0):
            y.transpose_(2, 3)
        return self.second(y) + self.first(x)


class FilledInBranch(Layers):
    """A tensor without inputs that a branch fills is no constant."""

    def forward(self, x):
        filled = torch.zeros(1, 4, 8, 8)
        if bool(x.mean() > 0):
            filled[:, 1:] += 1
        return self.second(filled) + self.first(x)


class FilledInLoop(Layers):
    def forward(self, x):
        rows = torch.zeros(4, 8, 8)
        for i in range(int(x.abs().max().item()) + 1):
            rows[i % 4] = self.first(x)[0, i % 4]
        return self.second(rows.unsqueeze(0))


class LongerList(Layers):
    """A list of tensors that a branch appends to."""

    def forward(self, x):
        parts = [self.first(x), self.second(x)]
        if bool(x.mean() > 0):
            parts.append(self.second(torch.relu(x)))
        return torch.cat(parts, 1)[:, -4:] + self.first(x)


class ListOfRounds(Layers):
    def forward(self, x):
        parts: List[torch.Tensor] = []
        counts = [1]
        while bool(x.abs().max() > 0.2) and len(counts) < 6:
            x = torch.tanh(self.first(x)) * 0.6
            parts.append(self.second(x))
            counts.append(len(counts))
        return torch.stack(parts).sum(0) * float(sum(counts))


class DictOfRounds(Layers):
    def forward(self, x):
        parts: Dict[str, torch.Tensor] = {"first": self.first(x)}
        i = 0
        while bool(x.abs().max() > 0.4) and i < 4:
            x = torch.tanh(self.second(x)) * 0.5
            parts[str(i)] = x
            i += 1
        return torch.stack(list(parts.values())).sum(0)


class Noisy(Layers):
    """Prints and draws random numbers in each round."""

    def forward(self, x):
        y = self.first(x)
        for i in range(int(x.abs().max().item()) + 1):
            print("round", i)
            torch.manual_seed(i)
            y = torch.tanh(self.second(y) + torch.rand(1, 4, 8, 8))
            if bool(y.mean() > 0):
                print("above")
                y = y - self.first(y)
        return y


class BranchOfTheCpu(Layers):
    def forward(self, x):
        y = self.first(x)
        if bool(y.mean() > 0):
            y = torch.nextafter(y, torch.zeros(1))
        return self.second(y)


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(4, 4, 3, padding=1)
        self.head = nn.Linear(8, 16)

    def forward(self, x):
        y = self.first(x).reshape(32, 8)
        return self.head(y[y.sum(1) > 0])


class SizesOfRows(Rows):
    """The CPU reads the scores' elements, and only the size of what they are made of."""

    def forward(self, x):
        y = self.first(x).reshape(32, 8)
        raw = self.head(y[y.sum(1) > 0])
        scores = torch.sigmoid(raw)
        return torch.nextafter(scores, torch.zeros(())), torch.arange(raw.shape[0])


class HalfKnown(Layers):
    """One convolution is known; three have sizes that change from round to round."""

    def forward(self, x):
        x = self.first(x)
        i = 0
        while bool(x.mean() > -100) and i < 3:
            x = torch.cat([self.first(x), self.second(x)], 2)
            i += 1
        return self.first(x)


class Effects(Layers):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(1))

    def forward(self, x):
        y = self.first(x)
        self.total = self.total + y.mean()
        noise = torch.rand_like(y)
        if bool(y.mean() > 1000):
            raise RuntimeError("too large")
        if bool(y.mean() > 900):
            print("large")
            warnings.warn("large")
        return self.second(y) + noise


class ReadBackwards(nn.Module):
    """A list that a loop fills, read from its end by another."""

    def forward(self, x):
        rows: List[torch.Tensor] = []
        for i in range(1, x.size(2)):
            rows.append(x[:, :, i])
        last = x[:, :, 0]
        for i in range(len(rows)):
            last = torch.tanh(last) + rows[len(rows) - 1 - i]
        return last


class Chain(Layers):
    """Sizes are unknown from a repeat on whose number depends on values, in a chain of three."""

    def forward(self, x):
        y = self.first(x)
        count = int(y.abs().max().item()) + 1
        long = torch.stack([y] * count)
        long = torch.tanh(torch.flatten(long, 1)) * 2
        return self.second(y), long.sum()


class SeldomRun(Layers):
    def forward(self, x):
        y = self.first(x)
        if bool(y.mean() > 1000):
            y = self.second(y)
        return torch.relu(y)


class ManyRounds(Layers):
    def forward(self, x):
        rounds = 30 if bool(x.abs().max() < 1e9) else 3
        for _ in range(rounds):
            x = torch.tanh(self.first(x))
        return x


MODELS = {model.__name__: model
          for model in (Rounds, Ways, Raising, Growing, ViewChanged, CarriedView, ChangedByRounds, Turned,
                        FilledInBranch, FilledInLoop, LongerList, ListOfRounds, DictOfRounds, Noisy, BranchOfTheCpu,
                        Rows, SizesOfRows, HalfKnown, Effects, ReadBackwards, Chain, SeldomRun, ManyRounds, NumberScattered)}


def line_of(beginning: str, model: str = "Ways") -> str:
    """Returns the place of a model's first source line that begins so, such as "block_models.py:34"."""
    path = pathlib.Path(__file__)
    lines = path.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(f"class {model}("))
    return f"{path.name}:{next(i for i in range(first, len(lines)) if lines[i].strip().startswith(beginning)) + 1}"
