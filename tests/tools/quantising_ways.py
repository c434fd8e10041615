# SPDX-License-Identifier: BSD-3-Clause
"""One small network in each way of quantising that PyTorch 1.13 has: eager, FX and graph mode, static, dynamic and of
weights only, traced and scripted, with packed weights hoisted out of submodules and prepacked for mobile."""

import pathlib
from typing import Callable, Dict, NamedTuple, Tuple

import torch
import torch.ao.quantization as quantization
from torch import nn
from torch.ao.quantization import quantize_fx
from torch.utils.mobile_optimizer import optimize_for_mobile

PICTURE = (1, 3, 16, 16)
VIDEO = (1, 3, 4, 10, 10)
ROW = (2, 12)
SEQUENCE = (5, 2, 12)
SAMPLES = 6


class Pictures(nn.Module):
    """A stem, a depthwise layer, a residual, and a classifier."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.depth = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.BatchNorm2d(8), nn.ReLU())
        self.point = nn.Conv2d(8, 8, 1)
        self.join = nn.quantized.FloatFunctional()
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.stem(self.quant(x))
        x = self.join.add(x, self.point(self.depth(x)))
        return self.dequant(self.head(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1)))


class PlainPictures(Pictures):
    """The same without stubs, for the modes that place the quantising themselves."""

    def forward(self, x):
        x = self.stem(x)
        x = x + self.point(self.depth(x))
        return self.head(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Videos(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.first, self.relu, self.second = nn.Conv3d(3, 6, 3, padding=1), nn.ReLU(), nn.Conv3d(6, 4, 1)

    def forward(self, x):
        return self.dequant(self.second(self.relu(self.first(self.quant(x)))))


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(12, 24), nn.Linear(24, 6)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Sequences(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.LSTM(12, 10), nn.Linear(10, 4)

    def forward(self, x):
        return self.head(self.layer(x)[0])


class Way(NamedTuple):
    make: Callable[[], torch.jit.ScriptModule]
    shape: Tuple[int, ...]
    engine: str = "qnnpack"  # that packs the original's weights
    suffix: str = ".pt"


def samples(shape):
    return [torch.randn(shape, generator=torch.Generator().manual_seed(seed)) for seed in range(SAMPLES)]


def network(kind, shape):
    torch.manual_seed(0)
    net = kind()
    for sample in samples(shape):
        net(sample)  # statistics of batch norms
    return net.eval()


def traced(net, shape):
    return torch.jit.trace(net, samples(shape)[0])


def fuse(net):
    if isinstance(net, Pictures):
        for name in ("stem", "depth"):
            quantization.fuse_modules(getattr(net, name), ["0", "1", "2"], inplace=True)
    return net


def eager(kind, shape, config="qnnpack"):
    net = fuse(network(kind, shape))
    net.qconfig = quantization.get_default_qconfig(config)
    quantization.prepare(net, inplace=True)
    for sample in samples(shape):
        net(sample)
    return quantization.convert(net, inplace=True)


def fx():
    net = network(PlainPictures, PICTURE)
    config = quantization.get_default_qconfig_mapping("qnnpack")
    prepared = quantize_fx.prepare_fx(net, config, (samples(PICTURE)[0],))
    for sample in samples(PICTURE):
        prepared(sample)
    return quantize_fx.convert_fx(prepared)


def graph_mode(form=torch.jit.script):
    def calibrate(model, data):
        for sample in data:
            model(sample)

    net = form(network(PlainPictures, PICTURE))
    config = {"": quantization.get_default_qconfig("qnnpack")}
    return quantization.quantize_jit(net, config, calibrate, [samples(PICTURE)])


def graph_mode_dynamic():
    config = {"": quantization.default_dynamic_qconfig}
    return quantization.quantize_dynamic_jit(torch.jit.script(network(Rows, ROW)), config)


def dynamic(kind, shape, dtype=torch.qint8):
    return quantization.quantize_dynamic(network(kind, shape), {nn.Linear, nn.LSTM}, dtype=dtype)


WAYS: Dict[str, Way] = {
    "eager_traced": Way(lambda: traced(eager(Pictures, PICTURE), PICTURE), PICTURE),
    "eager_scripted": Way(lambda: torch.jit.script(eager(Pictures, PICTURE)), PICTURE),
    "eager_each_channel": Way(lambda: traced(eager(Pictures, PICTURE, "fbgemm"), PICTURE), PICTURE, "onednn"),
    "eager_mobile": Way(lambda: optimize_for_mobile(traced(eager(Pictures, PICTURE), PICTURE)), PICTURE),
    "eager_videos": Way(lambda: traced(eager(Videos, VIDEO, "onednn"), VIDEO), VIDEO, "onednn"),
    "fx_traced": Way(lambda: traced(fx(), PICTURE), PICTURE),
    "fx_scripted": Way(lambda: torch.jit.script(fx()), PICTURE),
    "graph_scripted": Way(graph_mode, PICTURE),
    "graph_traced": Way(lambda: graph_mode(lambda net: traced(net, PICTURE)), PICTURE),
    "graph_mobile": Way(lambda: optimize_for_mobile(graph_mode()), PICTURE),
    "graph_dynamic": Way(graph_mode_dynamic, ROW),
    "dynamic_rows": Way(lambda: traced(dynamic(Rows, ROW), ROW), ROW),
    "dynamic_rows_scripted": Way(lambda: torch.jit.script(dynamic(Rows, ROW)), ROW),
    "dynamic_sequences": Way(lambda: torch.jit.script(dynamic(Sequences, SEQUENCE)), SEQUENCE),
}


def write(name: str, folder: pathlib.Path) -> pathlib.Path:
    way = WAYS[name]
    torch.backends.quantized.engine = way.engine
    path = folder / f"{name}{way.suffix}"
    with torch.no_grad():
        torch.jit.save(way.make(), str(path))
    return path
