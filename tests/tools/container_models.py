# SPDX-License-Identifier: BSD-3-Clause
"""Scripted models that keep tensors in lists, dicts and objects on the way, as torchvision's detectors do."""

from collections import OrderedDict
from typing import Dict, List, Optional, Tuple

import torch
from torch import nn

from block_models import Layers


class Pyramid(Layers):
    """Feature maps by name, in a dict that layers fill one after the other; a list grows at both ends."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList(nn.Conv2d(4, 4, 3, 2, padding=1) for _ in range(3))
        self.lateral = nn.ModuleList(nn.Conv2d(4, 4, 1) for _ in range(3))

    def merged(self, features: Dict[str, torch.Tensor]) -> Tuple[List[str], List[torch.Tensor]]:
        names, maps = list(features.keys()), list(features.values())
        last = self.first(maps[-1])
        results = [last]
        for i in range(len(maps) - 2, -1, -1):
            lateral = maps[i]
            for j, layer in enumerate(self.lateral):
                if i == j:
                    lateral = layer(maps[i])
            last = lateral + nn.functional.interpolate(last, size=lateral.shape[-2:], mode="nearest")
            results.insert(0, last)
        results.extend([self.second(results[-1])])
        names.extend(["pool"])
        return names, results

    def forward(self, x):
        features: Dict[str, torch.Tensor] = OrderedDict()
        for i, layer in enumerate(self.down):
            x = nn.functional.relu(layer(x), inplace=True)
            features[str(i)] = x
        names, maps = self.merged(features)
        merged = OrderedDict([(name, value) for name, value in zip(names, maps)])
        total = merged["0"]
        for name, value in merged.items():
            if name != "0":
                total = total + nn.functional.interpolate(self.first(value), size=total.shape[-2:], mode="nearest")
        return total


class BatchOfImages(Layers):
    """Images are resized by a scale that is computed from their sizes, and copied into a batch made for them."""

    def forward(self, x):
        images = [each for each in x]
        for i in range(len(images)):
            shape = torch.tensor(images[i].shape[-2:])
            scale = torch.min(8.0 / torch.min(shape).to(torch.float32), 16.0 / torch.max(shape).to(torch.float32)).item()
            images[i] = nn.functional.interpolate(images[i][None], scale_factor=scale, mode="bilinear",
                                                  recompute_scale_factor=True, align_corners=False)[0]
        batch = images[0].new_full([len(images), 4, 8, 8], 0)
        for i in range(batch.shape[0]):
            image = images[i]
            batch[i, :, :image.shape[1], :image.shape[2]].copy_(image)
        return self.second(self.first(batch))


class Scale:
    """Values that a model computes at its first call."""

    def __init__(self, factor: float, steps: int):
        self.factor = factor
        self.steps = steps


class KeepsObject(Layers):
    """Scales by what the first input was."""

    scale: Optional[Scale]
    names: Optional[List[float]]

    def __init__(self, scale: Optional[Scale] = None):
        super().__init__()
        self.scale = scale
        self.names = None

    def forward(self, x):
        y = self.first(x)
        if self.scale is None:
            self.scale = Scale(float(x.abs().max().item()), 2)
            self.names = [0.5, 2.0]
        scale = self.scale
        assert scale is not None
        for _ in range(scale.steps):
            y = torch.tanh(y * scale.factor)
        names = self.names
        if names is not None:
            y = y * names[1]
        return self.second(y)


class KeepsObjects(Layers):
    """More of them at each call."""

    scales: List[Scale]

    def __init__(self):
        super().__init__()
        self.scales = [Scale(0.5, 2)]

    def forward(self, x):
        self.scales.append(Scale(float(x.abs().max().item()), 1))
        factor = 1.0
        for scale in self.scales:
            factor = factor * scale.factor
        return self.second(torch.relu(self.first(x)) * factor)


class ChangedInLists(Layers):
    """NNAPI's results are put in a list of dicts, changed in place from there, and read again under their names."""

    def forward(self, x):
        y = self.first(x)
        z = torch.relu(y)
        found: List[Dict[str, torch.Tensor]] = []
        for i in range(int(x.abs().max().item()) + 1):
            found.append({"all": z, "part": z[:, i % 4:]})
        for entry in found:
            entry["part"][:, 0] *= 0.5
        return self.second(z), y, found[-1]["all"]


class TakesFromList(Layers):
    """Elements are taken out of a list, at both ends and in a branch."""

    def forward(self, x):
        maps = [x, self.first(x)]
        maps.append(self.second(x))
        last = maps.pop()
        kept = self.first(last + maps.pop(0))
        maps.append(kept)
        if bool(x.mean() > 0):
            kept = maps.pop(-1) * 2
        total = self.second(kept)
        for part in maps:
            total = total + part
        return total, len(maps)


class GivesConstants(nn.Module):
    def forward(self, x):
        return torch.relu(x), torch.ones(2, 3)


MODELS = {model.__name__: model
          for model in (Pyramid, BatchOfImages, KeepsObject, KeepsObjects, ChangedInLists, GivesConstants, TakesFromList)}
