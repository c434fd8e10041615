# SPDX-License-Identifier: BSD-3-Clause
"""The networks, the samples and the base class of the tests of --calibrate."""

import json
import struct
import zlib

import torch
from torch import nn

from cli import CliTest
from stock_torch import StockTorchTest, call, load

SHIM = ["--runtime", "shim"]


class Net(nn.Module):
    """Convolutions as networks have them, ending in a softmax."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.second = nn.Conv2d(8, 8, 1)
        self.last = nn.Linear(8, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        x = x + torch.relu(self.second(torch.nn.functional.hardtanh(self.depthwise(x), 0, 6)))
        x = torch.cat((nn.functional.max_pool2d(x, 2), nn.functional.avg_pool2d(x, 2)), 1)
        x = x[:, :8] * torch.sigmoid(x[:, 8:])
        return self.last(x.mean((2, 3)))


class FloatInside(nn.Module):
    """An operation without an integer form between two that have one."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, x):
        return self.second(torch.sqrt(torch.relu(self.first(x)) + 0.1))


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 6)
        self.last = nn.Linear(12, 5)

    def forward(self, x, indices):
        return torch.relu(self.last(torch.cat((x, self.table(indices)), 1)))


def picture_samples(count, size=16, seed=0):
    """Smooth pictures, each of its own brightness and contrast."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.randn(count, 3, 4, 4, generator=generator) * torch.rand(count, 1, 1, 1, generator=generator) * 2
    return nn.functional.interpolate(coarse, size=(size, size), mode="bilinear", align_corners=False)


def snr(expected, found):
    return (10 * torch.log10(expected.square().sum() / (expected - found).square().sum())).item()


def write_png(path, pixels):
    """`pixels` are uint8 of [height, width, 3]."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + pixels[y].tobytes() for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) +
                     chunk(b"IEND", b""))


class CalibrateTest(CliTest, StockTorchTest):
    def trace(self, model, *inputs, name="model.pt"):
        """The model in the folder, with batch norms that have seen the inputs."""
        torch.manual_seed(3)
        model.train()
        with torch.no_grad():
            model(*inputs)
        model.eval()
        path = self.folder / name
        with torch.no_grad():
            torch.jit.trace(model, inputs).save(str(path))
        return path

    def samples(self, tensors, name="samples.pt"):
        path = self.folder / name
        torch.save(tensors, str(path))
        return path

    def make_net(self):
        torch.manual_seed(1)
        self.pictures = picture_samples(80)
        self.model = self.trace(Net(), self.pictures)
        self.data = self.samples(list(self.pictures[:64].unsqueeze(1)))
        self.spec = ["--input", "1,3,16,16"]

    def operations(self, path):
        form = json.loads(self.succeed("inspect", path, "--format", "json").stdout)
        return [operation["name"] for operation in form["operations"]]

    def results(self, original, converted, pictures):
        expected, found = [], []
        first, second = load(original), load(converted)
        for picture in pictures:
            expected.append(call(first, picture.unsqueeze(0)))
            result = call(second, picture.unsqueeze(0))
            found.append(result.dequantize() if result.is_quantized else result)
        expected, found = torch.cat(expected), torch.cat(found)
        self.assertGreater(expected.std(0).min().item(), 1e-2, "the outputs must vary")
        return expected, found
