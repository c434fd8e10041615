#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes exported programs with open sizes, and what PyTorch gives for several sizes: files of testdata/exported/open.

    make_open_exports.py FOLDER        with PyTorch 2.6 or later

NAME.npz has the arguments of call K (sK_aJ) and its results (sK_rJ)."""

import pathlib
import re
import sys
import zipfile

import numpy
import torch
from torch import nn
from torch.export import Dim, export, save


class SortedHeads(nn.Module):
    """What is behind the step on the CPU begins with two open sizes."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        batch, length = x.size(0), x.size(1)
        y = torch.sort(self.layer(x), 1)[0].view(batch, length, 4, 2).transpose(1, 2)
        return torch.softmax(y @ y.transpose(2, 3), -1) @ y


class PlacedTokens(nn.Module):
    """Numbers of rows and columns from the CPU meet a picture whose sizes were divided and rounded."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, 2, 1)
        self.parts, self.last = nn.Linear(8, 24), nn.Linear(8, 4)

    def forward(self, x):
        y = self.second(torch.relu(self.first(x)))
        ones = torch.ones(1, y.size(2), y.size(3))
        places = torch.stack([ones.cumsum(1).sin(), ones.cumsum(2).cos()], -1).repeat(1, 1, 1, 4)
        tokens = y.flatten(2).permute(2, 0, 1) + places.flatten(1, 2).permute(1, 0, 2)
        query, key, value = (part.view(part.size(0), 2, 4).transpose(0, 1) for part in self.parts(tokens).chunk(3, -1))
        heads = torch.softmax(query @ key.transpose(1, 2), -1) @ value
        return self.last(heads.transpose(0, 1).flatten(1))


class TokensAgain(nn.Module):
    """Tokens become a picture again, whose height and width no tensor between tells."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, 2, 1), nn.LayerNorm(8)
        self.depthwise, self.last = nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.Linear(8, 4)

    def forward(self, x):
        y = self.first(x)
        height, width = y.size(2), y.size(3)
        tokens = self.norm(y.flatten(2).transpose(1, 2))
        tokens = torch.sort(tokens, 1)[0]
        picture = self.depthwise(tokens.transpose(1, 2).view(1, 8, height, width))
        return self.last(torch.relu(picture.flatten(2).transpose(1, 2)))


class Bounded(nn.Module):
    """Two answers, of which torch.export keeps that of the example's length."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x):
        y = self.layer(x)
        return y * 2 if x.size(1) > 10 else y - 1


AUTO = Dim.AUTO
MODELS = {
    "sorted_heads": (SortedHeads, {"x": {0: AUTO, 1: AUTO}}, [(2, 12, 8), (1, 7, 8), (3, 33, 8)]),
    "placed_tokens": (PlacedTokens, {"x": {2: AUTO, 3: AUTO}}, [(1, 3, 32, 40), (1, 3, 37, 21), (1, 3, 64, 50)]),
    "tokens_again": (TokensAgain, {"x": {2: AUTO, 3: AUTO}}, [(1, 3, 16, 20), (1, 3, 31, 13), (1, 3, 24, 40)]),
    "bounded": (Bounded, {"x": {1: Dim("length", max=60)}}, [(1, 16, 8), (1, 11, 8), (1, 60, 8)]),
}


def drop_folders(path):
    """Source lines keep the names of their files alone."""
    with zipfile.ZipFile(path) as archive:
        entries = [(info, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w") as archive:
        for info, content in entries:
            if info.filename.endswith("model.json"):
                content = re.sub(rb'File \\"/[^\\"]*/([^/\\"]+)\\"', rb'File \\"\1\\"', content)
            archive.writestr(zipfile.ZipInfo(info.filename), content)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, (make, shapes, sizes) in MODELS.items():
        torch.manual_seed(0)
        model, values = make().eval(), {}
        calls = [torch.randn(size) for size in sizes]
        try:
            program = export(model, (calls[0],), dynamic_shapes=shapes, strict=False)
        except Exception:
            program = export(model, (calls[0],), dynamic_shapes={"x": {1: Dim("length", min=11, max=60)}}, strict=False)
        save(program, str(folder / f"{name}.pt2"))
        drop_folders(folder / f"{name}.pt2")
        for number, x in enumerate(calls):
            values[f"s{number}_a0"] = x.numpy()
            values[f"s{number}_r0"] = model(x).detach().numpy()
        numpy.savez(str(folder / f"{name}.npz"), **values)


if __name__ == "__main__":
    main()
