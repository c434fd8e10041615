# SPDX-License-Identifier: BSD-3-Clause
"""torchvision's detectors, traced for one image and scripted as they are, with seeded weights under which they find
something: real statistics in every batch norm, and heads whose scores and boxes differ but don't saturate."""

from typing import Dict, List

import torch
import torchvision
from torch import nn
from torchvision.ops import FrozenBatchNorm2d

from .common import Made, Recipe, images

NETWORKS = [
    "fasterrcnn_mobilenet_v3_large_320_fpn",
    "fasterrcnn_mobilenet_v3_large_fpn",
    "fasterrcnn_resnet50_fpn",
    "fasterrcnn_resnet50_fpn_v2",
    "fcos_resnet50_fpn",
    "keypointrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn_v2",
    "retinanet_resnet50_fpn",
    "retinanet_resnet50_fpn_v2",
    "ssd300_vgg16",
    "ssdlite320_mobilenet_v3_large",
]
FIXED_SIZES = {"ssd300_vgg16": 300, "ssdlite320_mobilenet_v3_large": 320}
SIZE = 320
LEAST_FOUND = 3
FORMS = ("traced", "scripted")
NORMS = (nn.BatchNorm2d, FrozenBatchNorm2d)

# Few candidates: the tests are about the network before the suppression.
ONE_STAGE = {"topk_candidates": 50, "detections_per_img": 30}
TWO_STAGES = {"rpn_pre_nms_top_n_test": 100, "rpn_post_nms_top_n_test": 30, "box_detections_per_img": 30}

# Standard deviations of the heads' results by a part of their name.
SPREAD = {
    "classification": 1.5,
    "cls_": 1.5,
    "objectness": 1.5,
    "bbox_ctrness": 1.0,
    "mask_fcn_logits": 1.5,
    "kps_score": 1.5,
    "bbox": 0.3,
    "regression": 0.3,
}


def build(name: str) -> nn.Module:
    if name in FIXED_SIZES:
        options = ONE_STAGE
    else:
        stages = ONE_STAGE if name.startswith(("retinanet", "fcos")) else TWO_STAGES
        options = {"min_size": SIZE, "max_size": SIZE, **stages}
    return torchvision.models.detection.__dict__[name](weights=None, weights_backbone=None, **options).eval()


def take_statistics(norm, inputs) -> None:
    values = inputs[0]
    if values.numel() // values.shape[1] > 1:
        norm.running_mean.copy_(values.mean([0, 2, 3]))
        norm.running_var.copy_(values.var([0, 2, 3], unbiased=False))


def spread_of(name: str, layer: nn.Module):
    """Returns the deviation of a layer's results: from SPREAD for a head's last layer, 1 if no norm follows it."""
    for part, spread in SPREAD.items():
        if part in name and (name.endswith(("_pred", "_reg", "_ctrness", "_logits", "_score", "lowres"))
                             or "module_list" in name):
            return spread
    return 1.0 if name.startswith("backbone.") and layer.bias is not None else None


def rescaled(spread: float):
    adjusted = set()

    def adjust(layer, inputs, output):
        if output.numel() < 2 or layer in adjusted:
            return None
        adjusted.add(layer)
        scale = output.std().clamp(min=1e-6) / spread
        mean = output.mean() if spread != 1.0 else output.mean([0, *range(2, output.dim())])
        layer.weight.div_(scale)
        if layer.bias is not None:
            layer.bias.sub_(mean).div_(scale)
        return layer.forward(*inputs)

    return adjust


def enliven(model: nn.Module, data: torch.Tensor) -> nn.Module:
    """Adjusts the layers in the order of forward, each on the new results of the layers before it. A layer that runs on
    several feature maps is adjusted to the first map, the largest."""
    handles = [norm.register_forward_pre_hook(take_statistics) for norm in model.modules() if isinstance(norm, NORMS)]
    for name, layer in model.named_modules():
        if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
            spread = spread_of(name, layer)
            if spread is not None:
                handles.append(layer.register_forward_hook(rescaled(spread)))
    with torch.no_grad():
        model(list(data))
    for handle in handles:
        handle.remove()
    return model


class OneImage(nn.Module):
    """A detector of one image of fixed size, as tracing needs it."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, image):
        return tuple(self.network([image[0]])[0].values())


def detection_recipe(name: str) -> Recipe:
    size = FIXED_SIZES.get(name, SIZE)
    files = [f"{name}_{form}.pt" for form in FORMS]

    def make() -> Dict[str, Made]:
        data = images(2, size).sigmoid()
        model = enliven(build(name), data)
        with torch.no_grad():
            traced = torch.jit.trace(OneImage(model).eval(), data[:1], check_trace=False)
            found = model(list(data))
        if any(len(result["scores"]) < LEAST_FOUND for result in found):
            raise SystemExit(f"{name}: finds only {[len(result['scores']) for result in found]}")
        scripted = torch.jit.script(model)
        return {files[0]: Made(traced, []), files[1]: Made(scripted, [])}

    return Recipe(name, files, make, f"torchvision's {name}; input 1,3,{size},{size}")


def detection_zoo_recipes() -> List[Recipe]:
    return [detection_recipe(name) for name in NETWORKS]
