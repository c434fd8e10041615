#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes exported programs (.pt2) with what PyTorch gives for their inputs: the files of testdata/exported.

Run with PyTorch 2.6 or later:
    make_exported.py FOLDER            files in the layout of this PyTorch
    make_exported.py --middle FOLDER   one file in the layout of PyTorch 2.8, made of today's by hand
"""
import collections
import copy
import importlib.util
import os
import pathlib
import sys
import tempfile
import zipfile

# PyTorch 2.6 names its folder by the user, and an unpacked suite of Debian has none.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.gettempdir())

import torch
from torch import nn
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim, export, save


class Cnn(nn.Module):
    """Convolutions, batch norm, an in-place operation and linear layers."""
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 8, 3, stride=2, groups=2)
        self.layers = nn.Sequential(nn.Linear(8, 7), nn.ReLU(), nn.Linear(7, 4))

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu_(self.norm(self.first(x))), 2)
        return self.layers(self.second(x).mean((2, 3))).softmax(-1)


class Autocast(nn.Module):
    """A block in bfloat16 within a float32 model. Results of both dtypes."""
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, 3)
        self.linear = nn.Linear(8, 6)
        self.last = nn.Linear(6, 4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = self.linear(self.convolution(x).relu().mean((2, 3)))
        return self.last(x.float()), x.tanh()


class Tree(nn.Module):
    """Tuples, lists, dicts, and an argument by keyword."""
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, pair, named, *, scale):
        first, second = pair
        return ({"sum": self.linear(first + second), "product": named["x"] * named["y"] * scale},
                [first - second, self.linear(first) * 2])


class Dynamic(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 3, padding=1)
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        y = self.convolution(x).relu()
        return self.linear(y.reshape(x.shape[0], 4, -1).mean(2))


class Derived(nn.Module):
    """The second argument has twice the rows of the first one."""
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 4)

    def forward(self, x, y):
        return self.linear(x) + self.linear(y[:x.shape[0]]).tanh()


class Counter(nn.Module):
    """Changes a buffer."""
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        self.calls.add_(1)
        return self.linear(x) * self.calls


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.linear(x).relu(), lambda x: x - 1.0, (x,))


class Branches(nn.Module):
    """A branch in a branch; two results."""
    def forward(self, x):
        def positive(x):
            return torch.cond(x.max() > 2, lambda x: x.sin(), lambda x: x.cos(), (x,)), x * 2

        def negative(x):
            return x - 1, x + 3

        return torch.cond(x.sum() > 0, positive, negative, (x,))


class Loop(nn.Module):
    """Goes on until the values are small."""
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        def is_large(x):
            return x.abs().sum() > 2.0

        def step(x):
            return (self.linear(x) * 0.5,)

        return while_loop(is_large, step, (x * 4,))[0]


class Tied(nn.Module):
    """Two names of one weight, a transposed one, and a buffer that isn't saved with the others."""
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.turned = nn.Parameter(torch.randn(4, 6).t())
        self.register_buffer("offset", torch.randn(6), persistent=False)

    def forward(self, x):
        x = self.second(self.first(x).tanh())
        with torch.no_grad():
            return nn.functional.linear(x, self.turned) + self.offset


class Indexed(nn.Module):
    """Several indices of a tensor, without None among them, as masks of attention have them; and a layer whose name is
    no name in Python."""
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(collections.OrderedDict({"linear-0": nn.Linear(6, 6)}))

    def forward(self, x, mask):
        batch = torch.arange(2).view(2, 1, 1)
        seen = mask.to(torch.bool)[batch, torch.arange(6).view(1, 1, 6)]
        return self.layers(x).masked_fill(~seen, -1.0), x[torch.arange(2), torch.tensor([0, 3])]


class Lanes(nn.Module):
    """Functions that torch.vmap runs: one level in another, as masks of attention are made, and lanes of the second
    axis."""
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(5, 7))
        self.bias = nn.Parameter(torch.randn(3))

    def element(self, row, column):
        is_seen = (column <= row + 2).to(torch.float32)
        return is_seen * torch.ops.aten.index(self.table, [row, column]) + self.bias

    def forward(self, x, factors):
        scaled = torch.vmap(lambda column, factor: (column * factor).sin() + 1.0, in_dims=(1, 0))(x, factors)
        elements = torch.vmap(torch.vmap(self.element, in_dims=(None, 0)), in_dims=(0, None))
        return scaled, scaled.sum() * elements(torch.arange(5), torch.arange(7))


class Waves(nn.Module):
    """A complex number, and what PyTorch 1.13 does not take: int32 as indices, and a float
    as a variance's correction."""
    def __init__(self):
        super().__init__()
        self.register_buffer("order", torch.tensor([3, 0, 2], dtype=torch.int32))

    def forward(self, x):
        turned = torch.view_as_real(torch.exp(1j * x) * (2 - 1j))
        spread = torch.ops.aten.var.correction(x, [1], correction=1.0)
        columns = x.t().contiguous().index_put((self.order,), turned[:, :3, 0].t())
        return turned[:, self.order] * spread.view(-1, 1, 1), columns


class Flags(nn.Module):
    """True and False as numbers."""
    def forward(self, x):
        seen = torch.full((4,), True) & torch.ones(2, 4, dtype=torch.bool).tril()
        return x.masked_fill(~(seen & torch.full_like(x > 0, True)), -1.0), torch.where(~((x > 0) * True), x * True, 0.5)


class Spectrum(nn.Module):
    """torch.fft of each kind, scaled in each way, with an odd last size."""
    def forward(self, x):
        half = torch.fft.rfft2(x, norm="ortho")
        back = torch.fft.irfft2(half * 0.5, s=x.shape[-2:], norm="forward")
        full = torch.fft.fftn(half, dim=(1, 2), norm="forward")
        inverse = torch.fft.ifft(torch.fft.fft(x, dim=1), dim=2, norm="ortho") + torch.fft.ifft2(torch.fft.ifft(x))
        line = torch.fft.irfft(torch.fft.rfft(x, dim=1, norm="forward"), n=x.shape[1], dim=1)
        return half.abs(), back, torch.view_as_real(full), torch.view_as_real(inverse), line


class Mixed(nn.Module):
    """A dict of a tensor and a dict, and one of a list and a tensor."""
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, parts, more):
        return self.linear(parts["x"] + parts["rest"]["y"]) * more["pair"][1], more["pair"][0] - more["z"]


class Fixed(nn.Module):
    """Numbers, a text and None, which torch.export takes as they are."""
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, times, x, mode="plain", shift=None, *, gain=1.5):
        x = self.linear(x) * times + gain
        return x.relu() if mode == "relu" else x


class Options(nn.Module):
    """Numbers, a text and None within containers."""
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, batch, state, size):
        hidden, _, factor = state
        x = self.linear(batch["x"]) * batch["scale"] + hidden * factor
        return (x.relu() if batch["mode"] == "relu" else x).view(size)


class Parts(nn.Module):
    """A list and a dict of tensors with a dynamic size."""
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, rows, named):
        return self.linear(rows[0] + rows[1]).relu(), self.linear(named["y"]) * named["z"]


class Divided(nn.Module):
    """A dynamic size is a number that tensors are divided by, multiplied with, and taken from."""
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y, rows = self.linear(x), x.shape[0]
        return y.sum(0) / rows, y * rows - rows, rows - y, x.argmax(1) % rows


class Numbered(nn.Module):
    """A number that a size follows."""
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x, count):
        return self.linear(x).view(count, 2, 2)


def attention():
    return nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)


def lstm():
    return nn.LSTM(4, 6, batch_first=True)


def newer():
    """Nothing with a PyTorch that can't export torch.vmap, complex numbers and numbers that sizes follow (2.6)."""
    if importlib.util.find_spec("torch._functorch.predispatch") is None:
        return {}
    return {"lanes": (Lanes(), (torch.randn(4, 6), torch.randn(6)), {}, {}),
            "waves": (Waves(), (torch.randn(2, 4),), {}, {}),
            "numbered": (Numbered(), (torch.randn(3, 4), 3), {}, {"dynamic_shapes": ({0: Dim.DYNAMIC}, Dim.DYNAMIC)})}


def arguments_of_options():
    return {"x": torch.randn(2, 4), "scale": 2.0, "mode": "relu"}, (torch.randn(2, 4), None, 3), (4, 2)


def arguments_of_parts():
    row = [torch.randn(3, 4) for _ in range(4)]
    return [row[0], row[1]], {"y": row[2], "z": row[3]}


def mixed_arguments():
    row = [torch.randn(2, 4) for _ in range(5)]
    return {"x": row[0], "rest": {"y": row[1]}}, {"pair": [row[2], row[3]], "z": row[4]}


def programs():
    """By name: the module, its arguments, those by keyword, and options of export."""
    image, row = torch.randn(2, 3, 12, 12), torch.randn(2, 4)
    sizes = {"dynamic_shapes": {"x": {0: Dim("n", min=1, max=16), 2: Dim("h", min=4, max=64)}}}
    twice = {"dynamic_shapes": {"x": {0: Dim("n", min=2, max=16)}, "y": {0: 2 * Dim("n", min=2, max=16)}}}
    any_row = {0: Dim("n", min=2, max=64)}
    any_rows = {"dynamic_shapes": ([any_row, any_row], {"y": any_row, "z": any_row})}
    pair = (torch.randn(2, 4), torch.randn(2, 4))
    named = {"x": torch.randn(2, 4), "y": torch.randn(2, 4)}
    return {
        "cnn": (Cnn(), (image,), {}, {}),
        "tree": (Tree(), (pair, named), {"scale": torch.randn(2, 4)}, {}),
        "dynamic": (Dynamic(), (torch.randn(2, 3, 8, 8),), {}, sizes),
        "derived": (Derived(), (torch.randn(3, 6), torch.randn(6, 6)), {}, twice),
        "counter": (Counter(), (row,), {}, {}),
        "branch": (Branch(), (row.abs(),), {}, {}),
        "branches": (Branches(), (row.abs(),), {}, {}),
        "loop": (Loop(), (row,), {}, {}),
        "tied": (Tied(), (row,), {}, {}),
        "attention": (attention(), (torch.randn(2, 5, 16),), {}, {}),
        "lstm": (lstm(), (torch.randn(2, 5, 4),), {}, {}),
        "indexed": (Indexed(), (torch.randn(2, 4, 6), (torch.arange(12) % 3 > 0).long().view(2, 6)), {}, {}),
    } | newer() | {
        "spectrum": (Spectrum(), (torch.randn(2, 6, 7),), {}, {}),
        "flags": (Flags(), (torch.randn(2, 4),), {}, {}),
        "mixed": (Mixed(), mixed_arguments(), {}, {}),
        "autocast": (Autocast(), (torch.randn(2, 3, 12, 12) * 3,), {}, {}),
        "fixed": (Fixed(), (2, row, "relu", None), {"gain": 2.5}, {}),
        "options": (Options(), arguments_of_options(), {}, {}),
        "parts": (Parts(), arguments_of_parts(), {}, any_rows),
        "divided": (Divided(), (torch.randn(3, 4),), {}, {"dynamic_shapes": {"x": any_row}}),
    }


def write(folder, name, program, arguments, keywords, expected):
    save(program, str(folder / f"{name}.pt2"))
    torch.save((arguments, keywords, expected), folder / f"{name}.results")


def write_all(folder):
    torch.manual_seed(0)
    for name, (module, arguments, keywords, options) in programs().items():
        module.eval()
        program = export(copy.deepcopy(module), arguments, keywords, **options)
        with torch.no_grad():
            expected = module(*arguments, **keywords)
        write(folder, name, program, arguments, keywords, expected)
        if name in ("cnn", "attention", "counter", "branches", "loop", "spectrum", "flags", "dynamic", "autocast"):
            write(folder, f"{name}_decomposed", program.run_decompositions(), arguments, keywords, expected)


def write_middle(folder):
    """The layout of 2.8 has the weights and constants as torch.save writes them."""
    torch.manual_seed(0)
    module, arguments, keywords, _ = programs()["tied"]
    program = export(module.eval(), arguments, keywords)
    write(folder, "tied", program, arguments, keywords, program.module()(*arguments))
    path = folder / "tied.pt2"
    with zipfile.ZipFile(path) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    root = "tied/"
    kept = {name: data for name, data in records.items()
            if "/data/weights/" not in name and "/data/constants/" not in name and "/.data/" not in name and
            not name.endswith("/byteorder")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in kept.items():
            archive.writestr(name, data)
        for kind, values in (("weights", dict(program.state_dict)), ("constants", dict(program.constants))):
            saved = folder / "saved"
            torch.save(values, saved)
            archive.writestr(f"{root}data/{kind}/model.pt", saved.read_bytes())
            saved.unlink()


def main():
    folder = pathlib.Path(sys.argv[-1])
    folder.mkdir(parents=True, exist_ok=True)
    if "--middle" in sys.argv:
        write_middle(folder)
    else:
        write_all(folder)


if __name__ == "__main__":
    main()
