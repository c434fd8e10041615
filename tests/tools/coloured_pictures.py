# SPDX-License-Identifier: BSD-3-Clause
"""Coloured pictures of six classes, small networks that learn them in seconds, and folders of them for --calibrate."""

import torch
from torch import nn

from calibrate_models import CalibrateTest, write_png

SIZE = 24
COLOURS = torch.tensor([[0.9, 0.2, 0.1], [0.2, 0.7, 0.2], [0.15, 0.3, 0.9]])
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
ORDER = ["ball-red", "ball-green", "ball-blue", "box-red", "box-green", "box-blue"]  # of the model's classes


def coloured_pictures(count, seed):
    """Pixels and classes of coloured_things()."""
    return coloured_things(count, seed)[:2]


def coloured_things(count, seed):
    """Pixels of uint8, [count, 3, SIZE, SIZE], classes, and boxes [count, 4] (left, top, right, bottom): a disc or a
    square in one of three colours, on warm smooth backgrounds of any brightness."""
    generator = torch.Generator().manual_seed(seed)

    def rand(*shape):
        return torch.rand(*shape, generator=generator)

    classes = torch.randint(0, 6, (count,), generator=generator)
    coarse = 0.7 * rand(count, 1, 4, 4) + 0.3 * rand(count, 3, 4, 4)
    smooth = nn.functional.interpolate(coarse, size=(SIZE, SIZE), mode="bilinear", align_corners=False)
    pictures = 0.5 * (smooth + rand(count, 1, 1, 1)) * torch.tensor([1, 0.9, 0.75]).view(1, 3, 1, 1)
    boxes = []
    rows, columns = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    for picture, label in zip(pictures, classes.tolist()):
        x, y = torch.randint(7, 17, (2,), generator=generator).tolist()
        radius = torch.randint(4, 7, (1,), generator=generator).item()
        disc = (columns - x).square() + (rows - y).square() <= radius * radius
        square = ((columns - x).abs() <= radius) & ((rows - y).abs() <= radius)
        inside = disc if label < 3 else square
        boxes.append([x - radius, y - radius, x + radius + 1, y + radius + 1])
        picture[:, inside] = (COLOURS[label % 3] * (0.6 + 0.4 * rand(1).item())).view(3, 1)
    return (pictures.clamp(0, 1) * 255).round().to(torch.uint8), classes, torch.tensor(boxes).float()


def normalised(pixels, mean=(0,), std=(1,), pixel_max=1, bgr=False):
    values = pixels.double() / 255 * pixel_max
    if bgr:
        values = values.flip(1)
    return ((values - torch.tensor(mean).view(1, -1, 1, 1)) / torch.tensor(std).view(1, -1, 1, 1)).float()


def small_net(kind):
    """A network with batch norms; of several widths, strides and activations."""
    width = (8, 16, 12)[kind % 3]
    activation = (nn.ReLU, nn.ReLU6, nn.Hardswish)[kind % 3]

    def layer(before, after, stride):
        return [nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), activation()]

    return nn.Sequential(*layer(3, width, 1 + kind % 2), *layer(width, 2 * width, 2), *layer(2 * width, 2 * width, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * width, 6))


def train(model, inputs, classes, seed=0, epochs=6):
    torch.manual_seed(seed)
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    model.train()
    for _ in range(epochs):
        for batch in torch.randperm(len(inputs)).split(50):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(inputs[batch]), classes[batch]).backward()
            optimiser.step()
    return model.eval()


def save_traced(model, path):
    with torch.no_grad():
        torch.jit.trace(model, torch.rand(1, 3, SIZE, SIZE)).save(str(path))
    return path


def write_folders(folder, pixels, classes, names):
    """A folder for each class, named by `names`; returns the paths in the order of the pictures."""
    paths = []
    for i, (picture, label) in enumerate(zip(pixels, classes.tolist())):
        (folder / names[label]).mkdir(parents=True, exist_ok=True)
        paths.append(folder / names[label] / f"{i:04}.png")
        write_png(paths[-1], picture.permute(1, 2, 0).numpy())
    return paths


class ColouredTest(CalibrateTest):
    """The pictures with a network that knows them well, but not perfectly."""
    SPEC = ["--input", f"1,3,{SIZE},{SIZE}", "--nhwc"]
    NORM = ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]
    trained = None

    def setUp(self):
        super().setUp()
        if ColouredTest.trained is None:
            torch.manual_seed(0)
            pixels, classes = coloured_pictures(1200, seed=1)
            ColouredTest.trained = train(small_net(0), normalised(pixels, *IMAGENET), classes, epochs=10)
        self.model = save_traced(ColouredTest.trained, self.folder / "model.pt")
