# SPDX-License-Identifier: BSD-3-Clause
"""Makes the zoo that batch.py measures: 60 networks, the first 30 of which PyTorch's Python prototype converts, too.
Needs PyTorch and torchvision, and no network."""

import json
import pathlib
import sys
import warnings

import torch
import torchvision
from torch import nn

SIZE = 96
MOBILENET_WIDTHS = [0.25 + 0.05 * i for i in range(20)]
MNASNET_WIDTHS = [0.5 + 0.1 * i for i in range(10)]
AS_THEY_COME = [
    "alexnet", "convnext_tiny", "densenet121", "densenet169", "efficientnet_b0", "efficientnet_b1", "efficientnet_b2",
    "efficientnet_b3", "efficientnet_v2_s", "googlenet", "inception_v3", "mobilenet_v2", "mobilenet_v3_large",
    "mobilenet_v3_small", "regnet_x_400mf", "regnet_x_800mf", "regnet_y_400mf", "regnet_y_800mf", "resnet18",
    "resnet34",
    "resnet50", "resnet101", "resnext50_32x4d", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x2_0",
    "squeezenet1_0", "squeezenet1_1", "vgg11_bn", "wide_resnet50_2",
]


def without_in_place(model: nn.Module) -> nn.Module:
    """Makes activations write to new tensors: the prototype takes no operation that writes to its input."""
    for module in model.modules():
        if hasattr(module, "inplace"):
            module.inplace = False
    return model


def networks():
    """Returns the names of the networks and their makers."""
    for width in MOBILENET_WIDTHS:
        yield f"mobilenet_{width:.2f}", lambda w=width: without_in_place(torchvision.models.mobilenet_v2(width_mult=w))
    for width in MNASNET_WIDTHS:
        yield f"mnasnet_{width:.1f}", lambda w=width: without_in_place(torchvision.models.MNASNet(w))
    for name in AS_THEY_COME:
        options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
        yield name, lambda n=name, o=options: torchvision.models.__dict__[n](weights=None, **o)


def make(folder: pathlib.Path) -> None:
    """Writes missing models and two manifests: all.json, and common.json of the models that both converters take."""
    warnings.filterwarnings("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for number, (name, build) in enumerate(networks()):
        path = folder / f"{name}.pt"
        if not path.exists():
            torch.manual_seed(number)
            with torch.no_grad():
                module = torch.jit.trace(build().eval(), torch.rand(1, 3, SIZE, SIZE), check_trace=False)
            module.save(str(path) + ".new")
            pathlib.Path(str(path) + ".new").rename(path)
        entries.append({"model": path.name})
    defaults = {"nhwc": True, "input": f"1,3,{SIZE},{SIZE}"}
    common = len(MOBILENET_WIDTHS) + len(MNASNET_WIDTHS)
    for manifest, models in {"all": entries, "common": entries[:common]}.items():
        (folder / f"{manifest}.json").write_text(json.dumps({"version": 1, "defaults": defaults, "models": models},
                                                            indent=1))


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
