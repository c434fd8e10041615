# SPDX-License-Identifier: BSD-3-Clause
"""Scripted models that take lists, dicts, tuples, optional tensors and numbers, and that keep state."""

from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import nn


class Layers(nn.Module):
    """Takes [1, 4, 8, 8]; nextafter is for the CPU."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(4, 4, 3, padding=1)
        self.second = nn.Conv2d(4, 4, 3, padding=1)


class TakesList(Layers):
    """Pictures of different size."""

    def forward(self, pictures: List[torch.Tensor], scale: float = 1.0):
        results = []
        for i, picture in enumerate(pictures):
            height, width = picture.shape[-2:]
            x = self.first(picture.unsqueeze(0))
            if height > width:
                x = x.transpose(2, 3)
            results.append(torch.nextafter(self.second(x) * scale, torch.zeros(1)) + float(i))
        return results


class TakesDict(Layers):
    def forward(self, features: Dict[str, torch.Tensor]) -> Dict[str, torch.Tensor]:
        results: Dict[str, torch.Tensor] = {}
        for name, x in features.items():
            if name.startswith("skip") or "low" in features and name == "low":
                results[name] = torch.nextafter(self.second(x), torch.zeros(1))
            else:
                results[name + "_first"] = self.first(x)
        return results


class TakesTuple(Layers):
    def forward(self, x, state: Tuple[torch.Tensor, Tuple[torch.Tensor, int]]):
        h, (c, steps) = state
        for _ in range(steps):
            h = torch.tanh(self.first(x) + self.second(h))
            c = torch.sigmoid(self.second(c)) * h
        return x, (h, (c, steps + 1))


class TakesOptional(Layers):
    def forward(self, x, mask: Optional[torch.Tensor] = None, others: Optional[List[Dict[str, torch.Tensor]]] = None):
        x = self.first(x)
        if mask is not None:
            x = x * mask
        if others is not None:
            for other in others:
                x = x + other["shift"]
        return self.second(torch.nextafter(x, torch.zeros(1)))


class TakesMask(Layers):
    def forward(self, x, mask: Optional[torch.Tensor] = None):
        x = self.first(x)
        if mask is not None:
            x = x * mask
        return self.second(x)


class TakesNumbers(Layers):
    def forward(self, x, rounds: int, factor: float = 0.5, is_last: bool = False):
        for _ in range(rounds):
            x = torch.tanh(self.first(x)) * factor
        if is_last:
            x = self.second(x)
        return x


class View(NamedTuple):
    picture: torch.Tensor
    skips: List[torch.Tensor]


class TakesNamedTuple(Layers):
    def forward(self, view: View, other: Optional[View] = None):
        x = self.first(view.picture)
        for skip in view.skips:
            x = x + skip
        if other is not None:
            x = x * other.picture
        return View(self.second(x), [x])


class TakesNumberedDict(Layers):
    """Keys that are numbers, and results under others."""

    def forward(self, levels: Dict[int, torch.Tensor], flags: Dict[bool, torch.Tensor]) -> Dict[int, torch.Tensor]:
        x = self.first(levels[-1]) + levels[7] * flags[True]
        return {3: self.second(x), -2: x}


class CopiesKeys(Layers):
    """Keys of any characters."""

    def forward(self, features: Dict[str, torch.Tensor]) -> Dict[str, torch.Tensor]:
        results: Dict[str, torch.Tensor] = {}
        for name, x in features.items():
            results[name] = self.second(torch.relu(self.first(x)))
        results["Größe {}"] = features["größe"] + 1
        return results


class TakesText(Layers):
    def forward(self, x, mode: str):
        x = self.first(x)
        return self.second(x) if mode == "größe {}" else x


class GivesConstants(Layers):
    """Constants, and None, beside tensors: NNAPI runs it whole."""

    def forward(self, x) -> Tuple[torch.Tensor, Optional[torch.Tensor], Tuple[int, float], List[int], str, List[int]]:
        empty: List[int] = []
        return self.second(torch.relu(self.first(x))), None, (8, 0.5), [1, 2], "größe", empty


class GivesOptional(Layers):
    def forward(self, x, both: bool = False) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
        x = self.second(torch.relu(self.first(x)))
        if both:
            return x, x * 2
        return x, None


class GivesOptionals(Layers):
    def forward(self, x, both: bool = False) -> List[Optional[torch.Tensor]]:
        x = self.second(torch.relu(self.first(x)))
        results: List[Optional[torch.Tensor]] = [x]
        if both:
            results = [x * 2, None]
        return results


class ChangesOneInput(Layers):
    def forward(self, x, y):
        x += 1
        y = self.first(y)
        x[:, 0] = 0.5
        return self.second(x) * y, y


class PutsValues(Layers):
    """As many values as the caller's mask has true elements."""

    def forward(self, x, mask, values):
        x = self.first(x)
        x[mask] = values
        return self.second(x)


class Batch:
    def __init__(self, pictures: torch.Tensor, count: int):
        self.pictures = pictures
        self.count = count


class Exchanges(Layers):
    """Elements of a list are exchanged one by one, and put into an object."""

    def forward(self, pictures: List[torch.Tensor]):
        pictures = [picture for picture in pictures]
        for i in range(len(pictures)):
            picture = pictures[i]
            if picture.dim() != 3:
                raise ValueError("a picture has rank 3")
            pictures[i] = torch.nextafter(self.first(picture.unsqueeze(0)), torch.zeros(1))
        batch = Batch(torch.cat(pictures), len(pictures))
        return self.second(batch.pictures) * float(batch.count)


class Warns(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.register_buffer("total", torch.zeros(1, 4, 8, 8))
        self.was_called = False

    def forward(self, x):
        self.calls += 1
        self.total += x
        if not self.was_called:
            self.was_called = True
        return self.total * float(self.calls)


class KeepsState(Layers):
    """Attributes of a submodule that each call changes, one of them in place."""

    def __init__(self):
        super().__init__()
        self.inner = Warns()

    def forward(self, x):
        return self.second(self.inner(self.first(x)))


class CollectedRows(torch.nn.Module):
    """Sizes grow from call to call, so that nothing can go to NNAPI."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.seen = torch.zeros(0, 8)

    def forward(self, x, count: int):
        self.seen = torch.cat([self.seen, x])
        return self.linear(self.seen[:count]).sum(0)


MODELS = {model.__name__: model
          for model in (TakesList, TakesDict, TakesTuple, TakesOptional, TakesMask, TakesNumbers, Exchanges,
                        KeepsState, TakesNamedTuple, TakesNumberedDict, CopiesKeys, TakesText, GivesConstants, GivesOptional,
                        GivesOptionals,
                        ChangesOneInput, PutsValues)}
