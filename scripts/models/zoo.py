# SPDX-License-Identifier: BSD-3-Clause
"""The whole networks: as torchvision traces them, unedited, with seeded weights."""

from typing import Callable, Dict, List

import torch
import torchvision
from torch import nn

from .common import Made, Recipe, bundle, images, init_weights, made, settle, standardise, trace
from .picture_nets import picture_recipes
from .quantised import quantise, quantised_files, quantised_names
from .sequence_nets import sequence_recipes
from .video_nets import video_recipes

vision = torchvision.models


def live(build: Callable[[], nn.Module], size: int, batches: int = 2, count: int = 12) -> nn.Module:
    model = init_weights(build())
    if not any(isinstance(module, nn.BatchNorm2d) for module in model.modules()):
        return standardise(model, images(count, size))
    return settle(model, [images(count, size) for _ in range(batches)])


def float_net(name: str, build: Callable[[], nn.Module], size: int, about: str) -> Recipe:
    def make() -> Dict[str, Made]:
        data = images(4, size)
        return {f"{name}.pt": made(trace(live(build, size), data[:1]), data)}

    return Recipe(name, [f"{name}.pt"], make, f"{about}; input 1,3,{size},{size}")


def quantised_net(name: str, build: Callable[[], nn.Module], size: int, about: str) -> Recipe:
    prefix = f"{name}_quant"

    def make() -> Dict[str, Made]:
        float_model = live(build, size)
        quantised = vision.quantization.__dict__[name](weights=None, quantize=False)
        quantised.load_state_dict(float_model.state_dict())
        quantised.eval().fuse_model(is_qat=False)
        quantise(quantised, [images(12, size) for _ in range(2)])
        return quantised_files(prefix, float_model, quantised, images(4, size))

    return Recipe(prefix, list(quantised_names(prefix)), make, f"{about}; input 1,3,{size},{size}")


class Perceptron(nn.Sequential):
    def __init__(self):
        layers = [nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10), nn.Softmax(dim=1)]
        super().__init__(*layers)


class TwoInputs(nn.Module):
    """Two branches of different size joined by concatenation and a product."""

    def __init__(self):
        super().__init__()
        self.left = nn.Conv2d(3, 16, 3, padding=1)
        self.right = nn.Conv2d(1, 16, 5, padding=2)
        self.join = nn.Conv2d(48, 8, 1)

    def forward(self, colour, depth):
        a = torch.relu(self.left(colour))
        b = torch.relu(self.right(depth))
        return self.join(torch.cat([a, b, a * b], dim=1))


class TupleOutput(nn.Module):
    """A backbone with two heads: scores and a feature map."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 24, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(24), nn.ReLU())
        self.scores = nn.Linear(24, 10)
        self.features = nn.Conv2d(24, 12, 1)

    def forward(self, picture):
        body = self.body(picture)
        return self.scores(body.mean([2, 3])), self.features(body)


def make_mlp() -> Dict[str, Made]:
    data = torch.randn(4, 784)
    model = standardise(init_weights(Perceptron()), torch.randn(64, 784))
    return {"mlp.pt": made(trace(model, data[:1]), data)}


def make_two_input() -> Dict[str, Made]:
    pairs = [(images(1, 32), images(1, 32, channels=1)) for _ in range(3)]
    return {"two_input.pt": Made(trace(init_weights(TwoInputs()).eval(), *pairs[0]), pairs)}


def make_tuple_output() -> Dict[str, Made]:
    data = images(4, 32)
    return {"tuple_output.pt": made(trace(live(TupleOutput, 32), data[:1]), data)}


def float_and_quantised(prefix: str, builder: Callable, quantisable: Callable) -> Dict[str, Made]:
    """A network at 224 and its quantised twin, both with bundled inputs."""
    size, data = 224, images(4, 224)
    float_model = live(builder, size, batches=2, count=8)
    quantised = quantisable(weights=None, quantize=False)
    quantised.load_state_dict(float_model.state_dict())
    quantised.eval().fuse_model(is_qat=False)
    quantise(quantised, [images(8, size) for _ in range(2)])
    sample = [(data[:1],)]
    return {
        f"{prefix}.pt": made(bundle(trace(float_model, data[:1]), sample), data),
        f"{prefix}_quant.pt": made(bundle(trace(quantised, data[:1]), sample), data),
    }


def make_demo() -> Dict[str, Made]:
    return float_and_quantised("mobilenet_v2", vision.mobilenet_v2, vision.quantization.mobilenet_v2)


def make_resnet18_pair() -> Dict[str, Made]:
    return float_and_quantised("resnet18_224", vision.resnet18, vision.quantization.resnet18)


def without_in_place(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if hasattr(module, "inplace"):
            module.inplace = False
    return model


def make_mobilenet_plain() -> Dict[str, Made]:
    data = images(2, 224)
    model = without_in_place(live(vision.mobilenet_v2, 224, batches=1, count=8))
    return {"mobilenet_v2_plain.pt": made(trace(model, data[:1]), data)}


def make_vgg16_plain() -> Dict[str, Made]:
    data = images(2, 224)
    model = live(lambda: vision.vgg16(init_weights=False), 224, count=4)
    model.avgpool = nn.Identity()
    return {"vgg16_plain.pt": made(trace(without_in_place(model), data[:1], check=False), data)}


def make_resnet152_plain() -> Dict[str, Made]:
    data = images(2, 224)
    traced = trace(live(vision.resnet152, 224, batches=1, count=4), data[:1], check=False)
    traced = torch.jit.freeze(traced, preserved_attrs=["training"])
    torch._C._jit_pass_remove_mutation(traced.graph)
    return {"resnet152_plain.pt": made(traced, data)}


def test_recipes() -> List[Recipe]:
    return [
        float_net("mobilenet_v2", vision.mobilenet_v2, 96, "torchvision's MobileNetV2"),
        float_net("resnet18", vision.resnet18, 64, "torchvision's ResNet-18"),
        float_net("resnet50", vision.resnet50, 64, "torchvision's ResNet-50"),
        float_net("squeezenet1_0", vision.squeezenet1_0, 96, "torchvision's SqueezeNet 1.0, pools with ceil_mode"),
        float_net("squeezenet1_1", vision.squeezenet1_1, 96, "torchvision's SqueezeNet 1.1, pools with ceil_mode"),
        Recipe("mlp", ["mlp.pt"], make_mlp, "784-256-128-10 with softmax; input 1,784"),
        Recipe("two_input", ["two_input.pt"], make_two_input, "two inputs: 1,3,32,32 and 1,1,32,32"),
        Recipe("tuple_output", ["tuple_output.pt"], make_tuple_output, "scores and a feature map; input 1,3,32,32"),
        quantised_net("mobilenet_v2", vision.mobilenet_v2, 96,
                      "MobileNetV2 quantised in qnnpack's way, and its float twin"),
        quantised_net("resnet18", vision.resnet18, 64, "ResNet-18 quantised in qnnpack's way, and its float twin"),
        *sequence_recipes(),
        *picture_recipes(),
        *video_recipes(),
    ]


def demo_recipes() -> List[Recipe]:
    files = ["mobilenet_v2.pt", "mobilenet_v2_quant.pt"]
    return [Recipe("mobilenet_v2", files, make_demo, "MobileNetV2 at 224, float and quantised, with bundled inputs")]


class SpeechLstm(nn.Module):
    """Scores for each frame of 50, of 64 features each."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(64, 256, num_layers=2, batch_first=True)
        self.scores = nn.Linear(256, 40)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        return self.scores(self.lstm(frames)[0])


def make_lstm() -> Dict[str, Made]:
    frames = torch.randn(2, 50, 64)
    return {"lstm.pt": made(trace(init_weights(SpeechLstm()).eval(), frames[:1]), frames)}


def bench_recipes() -> List[Recipe]:
    about = "in-place operations removed; input 1,3,224,224"
    return [
        Recipe("mobilenet_v2_plain", ["mobilenet_v2_plain.pt"], make_mobilenet_plain, f"MobileNetV2, {about}"),
        Recipe("resnet152_plain", ["resnet152_plain.pt"], make_resnet152_plain, f"ResNet-152, frozen, {about}"),
        Recipe("vgg16_plain", ["vgg16_plain.pt"], make_vgg16_plain, f"VGG-16 without adaptive pool, {about}"),
        Recipe("resnet18_224", ["resnet18_224.pt", "resnet18_224_quant.pt"], make_resnet18_pair,
               "ResNet-18 at 224, float and quantised, with bundled inputs"),
        Recipe("lstm", ["lstm.pt"], make_lstm, "two layers of LSTM for 50 frames; input 1,50,64"),
    ]
