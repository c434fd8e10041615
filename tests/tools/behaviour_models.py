# SPDX-License-Identifier: BSD-3-Clause
"""Scripted models that could be told from their original by more than values: by what is kept, printed, raised, and
changed in place. Each takes [1, 4, 8, 8]."""

from typing import Dict, List, Tuple

import torch
import torch.nn.functional as F

from block_models import Layers
from container_models import Scale


class Kept(Layers):
    """Reads at once what it has set, by NNAPI's results."""

    state: Tuple[torch.Tensor, int]

    def __init__(self):
        super().__init__()
        self.state = (torch.zeros(1), 0)

    def forward(self, x):
        total, count = self.state
        y = self.first(x)
        self.state = (total + y.mean(), count + 1)
        return self.second(y) + self.state[0], self.state[1]


class Box:
    def __init__(self, value: torch.Tensor):
        self.value = value
        self.parts: List[torch.Tensor] = []


class SetTwice(Layers):
    """An object whose attribute is set and read in turn."""

    def forward(self, x):
        box = Box(self.first(x))
        before = box.value
        box.value = self.second(before)
        after = box.value
        box.value += 1
        return before, after, box.value


class SetByOtherName(Layers):
    def forward(self, x):
        box = Box(self.first(x))
        boxes = [box]
        boxes[0].value = self.second(x)
        return box.value


class KeepsBox(Layers):
    """An attribute of the module is an object, and the model sets only the object's attributes."""

    box: Box

    def __init__(self):
        super().__init__()
        self.box = Box(torch.zeros(1, 4, 8, 8))

    def forward(self, x):
        y = self.first(x) + self.box.value
        self.box.value = torch.tanh(y)
        self.box.parts.append(y)
        return self.second(y) + self.box.value, len(self.box.parts)


class RaisesBetween(Layers):
    """A call that fails keeps the count up to the failure."""

    count: int

    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x):
        y = self.first(x)
        self.count += 1
        print("before", self.count)
        row = torch.special.airy_ai(torch.tanh(y)).view(-1, 64)[int(y.abs().max() * 2)]
        self.count += 10
        print("after", self.count)
        return self.second(x) + row.mean(), self.count


class ViewOfContiguous(Layers):
    """Views of what NNAPI gives that are none of what has another order in memory."""

    def forward(self, x):
        y = self.first(x)
        part, flat, same = y.reshape(1, 4, 64), y.flatten(1), y.contiguous()
        if bool(x.mean() > 0):
            part[0, 1] += 1
            flat[:, 3] *= 2
            same[:, 2] = 0.5
        torch.manual_seed(3)
        return self.second(y) + torch.rand_like(y), part, flat


class ReadsMemory(Layers):
    """A view that tells elements by their place in memory."""

    def forward(self, x):
        return torch.as_strided(self.first(x), [8, 16], [16, 1])


class ReadsMemoryOfTwo(Layers):
    def forward(self, x):
        y = self.first(x)
        z = self.second(y)
        return torch.as_strided(y, [8, 16], [16, 1]), torch.as_strided(z, [4, 8], [8, 1])


class ReadsMemoryOfViews(Layers):
    """Views, and tensors that have the order of a view, told by their place in memory."""

    def forward(self, x):
        y = self.first(x)
        turned = torch.relu(y.permute(0, 2, 3, 1))
        return (torch.as_strided(y.permute(0, 2, 3, 1), [1, 8, 4], [128, 16, 1]),
                torch.as_strided(y.movedim(1, 3), [8, 16], [16, 1]), torch.as_strided(y[:, 1:, 2:], [8, 16], [16, 1]),
                torch.as_strided(y[:, 1:, 2:], [8, 16], [16, 1], 3), torch.as_strided(y.unfold(3, 4, 2), [8, 16], [16, 1]),
                torch.as_strided(turned, [8, 16], [16, 1]), self.second(turned.permute(0, 3, 1, 2)),
                torch.as_strided_scatter(turned, torch.zeros(4, 4), [4, 4], [16, 1]))


class ReadsMemoryOfInput(Layers):
    def forward(self, x):
        return torch.as_strided(torch.relu(x).transpose(2, 3), [8, 16], [16, 1]), self.first(x)


class ResizesTurned(Layers):
    def forward(self, x):
        y, z = torch.relu(self.first(x).permute(0, 2, 3, 1)).clone(), torch.relu(self.second(x).transpose(1, 2)).clone()
        y.resize_([8, 16])
        return y + 1, torch.zeros(1).set_(z).storage_offset(), torch.zeros(1).set_(z) * 2


class BranchesByOrder(Layers):
    def forward(self, x):
        y = torch.relu(self.first(x).permute(0, 2, 3, 1))
        if y.is_contiguous():
            y = y * 3
        z = self.second(y.permute(0, 3, 1, 2))[:, 1].transpose(1, 2)
        if z.stride(1) == 8:
            z = z + 7
        return y, z, z.storage_offset(), y.stride()


class ChangesCopiesOfTurned(Layers):
    """contiguous() and reshape() give copies of what is turned, and the tensor itself of others."""

    def forward(self, x):
        y = self.first(x)
        turned, plain = torch.relu(y.permute(0, 2, 3, 1)), torch.relu(y)
        a, b, c = turned.contiguous(), turned.reshape(-1), plain.contiguous()
        if bool(x.mean() > -9):
            a.add_(1)
            b.mul_(2)
            c.sub_(3)
        return turned, plain, a, b, c, self.second(y)


class ChangesCopyAtOnce(Layers):
    def forward(self, x):
        turned = torch.relu(self.first(x).permute(0, 2, 3, 1))
        copy = turned.reshape(-1)
        copy.add_(1)
        return turned, copy


class OrderInState(Layers):
    """What a call leaves is read by its place in memory in the next one."""

    state: torch.Tensor

    def __init__(self):
        super().__init__()
        self.state = torch.zeros(1, 4, 8, 8)

    def forward(self, x):
        before = torch.as_strided(self.state, [8, 16], [16, 1])
        self.state = torch.relu(self.first(x).transpose(1, 3))
        return before + self.second(x).mean()


class OrderOfLikes(Layers):
    """zeros_like() and its kin have the order in memory of the tensor that they are like."""

    def forward(self, x):
        y = self.first(x).permute(0, 2, 3, 1)
        zeros, ones = torch.zeros_like(y), torch.ones_like(y) * 3
        zeros[:, 1] = 1
        zeros[:, :, 2] += 2
        full = torch.full_like(y, 2.0) + y
        return (torch.as_strided(zeros, [8, 16], [16, 1]), ones.stride(1), torch.as_strided(full, [4, 8], [8, 1]),
                self.second(x))


class RowsChangedInPlace(Layers):
    """Boxes of as many rows as values say: what is changed in place is like what NNAPI gives, which is contiguous."""

    def __init__(self):
        super().__init__()
        self.shifts, self.scores = torch.nn.Linear(8, 8), torch.nn.Linear(8, 4)

    def forward(self, x):
        points = self.first(x).flatten(1).reshape(-1, 8)
        points = points[points.sum(1) > 0]
        shifts = self.shifts(points)
        boxes = torch.zeros_like(shifts)
        boxes[:, 0::4] = shifts[:, 1::4] - 1
        boxes[:, 2::4] = shifts[:, 3::4] + 1
        flat = boxes.reshape(-1, 4)
        flat[:, 1].clamp_(min=0.25)
        return boxes, flat, self.scores(torch.relu(points))


class OrderInBlocks(Layers):
    """The order of what loops, branches and lists hand on."""

    def forward(self, x):
        y = self.first(x)
        parts: List[torch.Tensor] = []
        for i in range(int(x.mean() > -9) + 1):
            y = torch.relu(self.second(y)).transpose(2, 3)
            parts.append(self.first(x).transpose(1, 2))
        z = y
        if bool(x.mean() > 0):
            z = torch.relu(self.second(y.clone()).transpose(1, 3))
        return [torch.as_strided(t, [8, 16], [16, 1]) for t in (y, z, parts[0])]


class Eigenvalues(Layers):
    """Parts of complex numbers that stay on the CPU."""

    def forward(self, x):
        values = torch.linalg.eigvals(self.first(x))
        pair = torch.stack([torch.real(values), torch.imag(values)])
        turned = torch.view_as_real(torch.conj(values).resolve_conj())
        return values.real.abs(), pair, turned, values.conj().imag, values.abs(), torch.real(self.second(x)).conj()


class DropoutIsNoCopy(Layers):
    def forward(self, x):
        y = self.first(x)
        z = F.dropout(y, 0.5, False)
        if bool(x.mean() > 0):
            z += 1
        return self.second(y), z


class ElementsChanged(Layers):
    """A loop changes the tensors of a list, which is read later."""

    def forward(self, x):
        parts = [self.first(x), self.second(x)]
        for part in parts:
            part += 1
        parts[1][0].mul_(2)
        joined = torch.special.airy_ai(torch.tanh(torch.cat(parts, 1)))
        for part in parts:
            part += 1
        return joined, torch.cat(parts, 1)


class UnpackedAfterChange(Layers):
    def forward(self, x):
        parts = [self.first(x), x]
        if bool(x.mean() > 1):
            parts.append(x)
        first, second = parts
        return first + self.second(second)


class OperatorLists(Layers):
    """Operators make lists, which grow."""

    def forward(self, x):
        parts = self.first(x).split(1, 1)
        parts.append(x)
        if bool(x.mean() > 0):
            parts.pop(0)
        sizes = x.size()
        sizes.append(3)
        same = [self.second(x)] * 3
        same.append(x)
        halves = x.chunk(2, 1)
        halves[0] = parts[0]
        count = len(parts) + 10 * len(sizes) + 100 * len(same)
        return self.second(x) + parts[0], count, torch.cat(halves, 1)


class RepeatedKeys(Layers):
    def forward(self, x):
        entries = {"a": x, "a": self.first(x)}  # noqa: F601
        entries["a"] = self.second(x)
        return entries["a"], entries


class ReadAndSet(Layers):
    """A dict and a list that are read before they are complete."""

    def forward(self, x):
        entries = {"a": self.first(x)}
        entries["b"] = self.second(entries["a"])
        entries["a"] = self.first(entries["b"])
        parts = [entries["a"], x]
        parts[0] = self.second(parts[0])
        return entries["a"] + parts[0]


class LeavesLoop(Layers):
    """A loop with break and continue."""

    def forward(self, x):
        i = 0
        while True:
            x = self.first(x)
            i += 1
            if bool(x.abs().max() < 0.3) or i > 5:
                break
            if i % 2 == 0:
                continue
            x = self.second(x) + 1
        return x, i


class KeptTwice(Layers):
    """Two attributes are one list of objects."""

    one: List[Scale]
    other: List[Scale]

    def __init__(self):
        super().__init__()
        self.one = [Scale(0.5, 1)]
        self.other = self.one

    def forward(self, x):
        self.one.append(Scale(2.0, 1))
        self.other[0].steps += 1
        return self.second(torch.relu(self.first(x))) * self.one[0].steps, len(self.other)


class ReadsInOrder(Layers):
    """Takes a dict."""

    def forward(self, entries: Dict[str, torch.Tensor]):
        total = self.first(entries["a"])
        for i, value in enumerate(entries.values()):
            total = total + self.second(value) * i
        return total


class ChangesInTuple(Layers):
    """Takes a tuple, and changes and returns the list in it."""

    def forward(self, pair: Tuple[torch.Tensor, List[torch.Tensor]]):
        first, others = pair
        others.append(self.first(first))
        others[0] = self.second(others[0])
        return others[1] + torch.special.airy_ai(torch.tanh(others[0])), pair


class StateBetween(Layers):
    """Changes its state in place between two layers, of which the second doesn't read it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(1, 4, 8, 8))

    def forward(self, x):
        y = torch.tanh(self.first(x) + self.state)
        self.state[:] = y
        return self.second(y)


class ChangesBeforeError(StateBetween):
    """The state is changed when the error comes."""

    def forward(self, x):
        y = torch.tanh(self.first(x) + self.state)
        self.state.add_(y)
        if bool(x.sum() > 0):
            raise ValueError("a positive sum")
        return self.second(y) * self.state


ALL = (OrderOfLikes, RowsChangedInPlace, Kept, SetTwice, SetByOtherName, KeepsBox, RaisesBetween, ViewOfContiguous, ReadsMemory, ReadsMemoryOfTwo,
       ReadsMemoryOfViews, ReadsMemoryOfInput, ResizesTurned, BranchesByOrder, ChangesCopiesOfTurned, ChangesCopyAtOnce,
       OrderInState, OrderInBlocks, Eigenvalues, DropoutIsNoCopy, UnpackedAfterChange, OperatorLists, RepeatedKeys,
       ReadAndSet, LeavesLoop, KeptTwice, StateBetween, ChangesBeforeError)
MODELS = {model.__name__: model for model in (*ALL, ElementsChanged, ReadsInOrder, ChangesInTuple)}
