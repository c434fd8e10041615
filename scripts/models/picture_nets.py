# SPDX-License-Identifier: BSD-3-Clause
"""Networks that make, mend or search pictures, as apps have them, in small."""

from typing import Callable, Dict, List

import torch
import torchvision
from torch import nn
from torch.nn import functional

from .common import Made, Recipe, images, init_weights, settle, traced


def block(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, groups: int = 1, act=nn.ReLU) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs),
        act())


class UNet(nn.Module):
    """Segmentation in two scales. `up` doubles the size of a map of 24 channels and gives 16."""

    def __init__(self, up: Callable[[], nn.Module]):
        super().__init__()
        self.first, self.second, self.bottom = block(3, 8), block(8, 16), block(16, 24)
        self.up_second, self.up_first = up(24, 16), up(16, 8)
        self.join_second, self.join_first = block(32, 16), block(16, 8)
        self.mask = nn.Conv2d(8, 2, 1)

    def forward(self, picture):
        first = self.first(picture)
        second = self.second(functional.max_pool2d(first, 2))
        bottom = self.bottom(functional.max_pool2d(second, 2))
        second = self.join_second(torch.cat([self.up_second(bottom), second], dim=1))
        first = self.join_first(torch.cat([self.up_first(second), first], dim=1))
        return torch.sigmoid(self.mask(first))


def up_transposed(inputs: int, outputs: int) -> nn.Module:
    return nn.ConvTranspose2d(inputs, outputs, 2, stride=2)


def up_nearest(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(inputs, outputs, 3, padding=1))


def up_bilinear(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
                         nn.Conv2d(inputs, outputs, 1))


class Generator(nn.Module):
    """DCGAN's generator: a vector to a picture of 32 by 32."""

    def __init__(self):
        super().__init__()

        def up(inputs, outputs, stride, padding):
            return [nn.ConvTranspose2d(inputs, outputs, 4, stride, padding, bias=False), nn.BatchNorm2d(outputs),
                    nn.ReLU()]

        self.main = nn.Sequential(*up(20, 24, 1, 0), *up(24, 16, 2, 1), *up(16, 8, 2, 1),
                                  nn.ConvTranspose2d(8, 3, 4, 2, 1, bias=False), nn.Tanh())

    def forward(self, vector):
        return self.main(vector)


class Espcn(nn.Module):
    """Super-resolution by three: convolutions at the small size, and pixel_shuffle."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 16, 5, padding=2), nn.Conv2d(16, 8, 3, padding=1)
        self.last = nn.Conv2d(8, 9, 3, padding=1)

    def forward(self, picture):
        features = torch.tanh(self.second(torch.tanh(self.first(picture))))
        return functional.pixel_shuffle(self.last(features), 3)


class YoloHead(nn.Module):
    """A detector's end: maps of two sizes, decoded to boxes and scores by a constant grid."""

    ANCHORS, CLASSES = 2, 3

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(3, 12, stride=2, act=nn.SiLU), block(12, 16, stride=2, act=nn.SiLU))
        self.deeper = block(16, 24, stride=2, act=nn.SiLU)
        outputs = self.ANCHORS * (5 + self.CLASSES)
        self.fine, self.coarse = nn.Conv2d(16, outputs, 1), nn.Conv2d(24, outputs, 1)
        self.fine_anchors = nn.Parameter(torch.tensor([[5.0, 6.0], [8.0, 15.0]]))
        self.coarse_anchors = nn.Parameter(torch.tensor([[15.0, 11.0], [20.0, 30.0]]))

    def decode(self, scores, stride, anchors):
        batch, _, height, width = scores.shape
        scores = scores.view(batch, self.ANCHORS, 5 + self.CLASSES, height, width).permute(0, 1, 3, 4, 2)
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        grid = torch.stack([columns, rows], dim=2).view(1, 1, height, width, 2).float()
        sizes = anchors.view(1, self.ANCHORS, 1, 1, 2)
        scores = scores.sigmoid()
        centres = (scores[..., 0:2] * 2 - 0.5 + grid) * stride
        extent = (scores[..., 2:4] * 2) ** 2 * sizes
        return torch.cat([centres, extent, scores[..., 4:]], dim=-1).view(batch, -1, 5 + self.CLASSES)

    def forward(self, picture):
        fine = self.body(picture)
        coarse = self.deeper(fine)
        return torch.cat([self.decode(self.fine(fine), 4.0, self.fine_anchors),
                          self.decode(self.coarse(coarse), 8.0, self.coarse_anchors)], dim=1)


class AutoEncoder(nn.Module):
    """Halves an odd or even size twice and comes back by output_padding."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
                                     nn.Conv2d(8, 12, 3, stride=2, padding=1), nn.ReLU())
        self.decoder = nn.Sequential(nn.ConvTranspose2d(12, 8, 3, stride=2, padding=1, output_padding=1), nn.ReLU(),
                                     nn.ConvTranspose2d(8, 1, 3, stride=2, padding=1, output_padding=1), nn.Sigmoid())

    def forward(self, picture):
        return self.decoder(self.encoder(picture))


class StyleResidual(nn.Module):
    def __init__(self, channels):
        super().__init__()

        def layer():
            return [nn.ReflectionPad2d(1), nn.Conv2d(channels, channels, 3), nn.InstanceNorm2d(channels, affine=True)]

        self.layers = nn.Sequential(*layer(), nn.ReLU(), *layer())

    def forward(self, picture):
        return self.layers(picture) + picture


class StyleNet(nn.Sequential):
    """Neural style: reflected edges, instance norms, nearest upsampling."""

    def __init__(self):
        def layer(inputs, outputs, kernel, stride=1):
            return [nn.ReflectionPad2d(kernel // 2), nn.Conv2d(inputs, outputs, kernel, stride),
                    nn.InstanceNorm2d(outputs, affine=True), nn.ReLU()]

        super().__init__(*layer(3, 8, 5), *layer(8, 16, 3, 2), StyleResidual(16), nn.Upsample(scale_factor=2),
                         *layer(16, 8, 3), nn.ReflectionPad2d(2), nn.Conv2d(8, 3, 5))


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, 4, 1), nn.Conv2d(4, channels, 1)

    def forward(self, picture):
        weights = self.up(torch.relu(self.down(functional.adaptive_avg_pool2d(picture, 1))))
        return picture * functional.hardsigmoid(weights)


class FbnetBlock(nn.Module):
    """Grouped convolutions with shuffled channels around a depthwise one, with squeeze and excitation."""

    def __init__(self, inputs, outputs, kernel, stride):
        super().__init__()
        middle = 3 * inputs
        self.expand = block(inputs, middle, 1, groups=2, act=nn.Hardswish)
        self.deep = block(middle, middle, kernel, stride, groups=middle, act=nn.Hardswish)
        self.squeeze = SqueezeExcite(middle)
        self.project = nn.Sequential(nn.Conv2d(middle, outputs, 1, groups=2, bias=False), nn.BatchNorm2d(outputs))
        self.is_residual = inputs == outputs and stride == 1

    def forward(self, picture):
        middle = functional.channel_shuffle(self.expand(picture), 2)
        result = self.project(self.squeeze(self.deep(middle)))
        return result + picture if self.is_residual else result


class Fbnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = block(3, 8, stride=2, act=nn.Hardswish)
        self.blocks = nn.Sequential(FbnetBlock(8, 8, 3, 1), FbnetBlock(8, 12, 5, 2), FbnetBlock(12, 12, 5, 1))
        self.scores = nn.Linear(12, 6)

    def forward(self, picture):
        return self.scores(self.blocks(self.stem(picture)).mean([2, 3]))


class SsdLite(nn.Module):
    """torchvision's SSDlite up to what suppression takes: scores and offsets of all anchors."""

    def __init__(self):
        super().__init__()
        whole = torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None,
                                                                           num_classes=5)
        self.backbone, self.head = whole.backbone, whole.head

    def forward(self, picture):
        found = self.head(list(self.backbone(picture).values()))
        return torch.softmax(found["cls_logits"], 2), found["bbox_regression"]


class LocalNorms(nn.Sequential):
    """AlexNet's beginning, with local response normalisation."""

    def __init__(self):
        super().__init__(nn.Conv2d(3, 16, 5, stride=2, padding=2), nn.ReLU(), nn.LocalResponseNorm(5, 1e-1, 0.75, 1.0),
                         nn.MaxPool2d(3, 2), nn.Conv2d(16, 24, 3, padding=1), nn.ReLU(), nn.LocalResponseNorm(3, 0.5),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10))


def live(build: Callable[[], nn.Module], data: torch.Tensor) -> nn.Module:
    model = init_weights(build())
    for module in model.modules():
        if isinstance(module, nn.InstanceNorm2d):
            nn.init.uniform_(module.weight, 0.8, 1.2)
            nn.init.uniform_(module.bias, -0.1, 0.8)
    return settle(model, [data])


def picture_net(name: str, build: Callable[[], nn.Module], data: Callable[[int], torch.Tensor], about: str) -> Recipe:
    def make() -> Dict[str, Made]:
        samples = [(row[None],) for row in data(4)]
        return {f"{name}.pt": traced(live(build, data(16)), samples)}

    return Recipe(name, [f"{name}.pt"], make, about)


def picture_recipes() -> List[Recipe]:
    def pictures(size, channels=3):
        return lambda count: images(count, size, channels)

    def vectors(count):
        return torch.randn(count, 20, 1, 1)

    return [
        picture_net("unet_transposed", lambda: UNet(up_transposed), pictures(32), "U-Net; input 1,3,32,32"),
        picture_net("unet_nearest", lambda: UNet(up_nearest), pictures(32),
                    "U-Net, nearest upsampling; input 1,3,32,32"),
        picture_net("unet_bilinear", lambda: UNet(up_bilinear), pictures(32),
                    "U-Net, bilinear upsampling; input 1,3,32,32"),
        picture_net("dcgan", Generator, vectors, "DCGAN's generator; input 1,20,1,1"),
        picture_net("espcn", Espcn, pictures(24, 1), "super-resolution by pixel_shuffle; input 1,1,24,24"),
        picture_net("yolo_head", YoloHead, pictures(32), "a detector with decoded boxes; input 1,3,32,32"),
        picture_net("ssdlite", SsdLite, pictures(96), "torchvision's SSDlite without suppression; input 1,3,96,96"),
        picture_net("local_norms", LocalNorms, pictures(48), "local response normalisation; input 1,3,48,48"),
        picture_net("autoencoder", AutoEncoder, pictures(28, 1), "transposed, with output_padding; input 1,1,28,28"),
        picture_net("style_net", StyleNet, pictures(32), "neural style; input 1,3,32,32"),
        picture_net("fbnet", Fbnet, pictures(48), "grouped, shuffled, squeezed and excited; input 1,3,48,48"),
    ]
