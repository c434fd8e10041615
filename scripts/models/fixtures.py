# SPDX-License-Identifier: BSD-3-Clause
"""The committed fixtures in testdata/models. Its README lists what each is for."""

from typing import Callable, Dict, List, Type

import torch
from torch import nn

from . import small_nets as nets
from .common import Made, Recipe, bundle, images, init_weights, made, settle, trace
from .quantised import quantise, quantised_files, quantised_names

SIZE = 16


def live(net: Type[nn.Module], size: int = SIZE) -> nn.Module:
    return settle(init_weights(net()), [images(16, size)])


def traced(net: Type[nn.Module], size: int = SIZE, **options) -> Made:
    data = images(4, size)
    return made(trace(live(net, size), data[:1]), data, **options)


def picture_net(name: str, net: Type[nn.Module], about: str, size: int = SIZE, **options) -> Recipe:
    file = f"{name}.pt"
    return Recipe(name, [file], lambda: {file: traced(net, size, **options)}, f"{about}; input 1,3,{size},{size}")


def single(name: str, make: Callable[[], Made], about: str, suffix: str = ".pt") -> Recipe:
    return Recipe(name, [name + suffix], lambda: {name + suffix: make()}, about)


def make_mlp() -> Made:
    data = torch.randn(4, 12)
    return made(trace(init_weights(nets.SmallPerceptron()).eval(), data[:1]), data)


def make_two_input() -> Made:
    pairs = [(images(1, SIZE), images(1, SIZE, channels=2)) for _ in range(3)]
    return Made(trace(init_weights(nets.TwoInputs()).eval(), *pairs[0]), pairs)


def make_unused_input() -> Made:
    pairs = [(images(1, SIZE), torch.randn(1, 2)) for _ in range(3)]
    return Made(trace(init_weights(nets.UnusedInput()).eval(), *pairs[0]), pairs)


def make_bundled() -> Made:
    entry = traced(nets.ConvBnRelu6)
    bundle(entry.module, entry.samples[:1])
    return entry


def make_shared_weights() -> Made:
    data = torch.cat([images(4, 12), images(4, 12)], dim=1)
    model = init_weights(nets.SharedWeights()).eval()
    model.twin.load_state_dict(model.conv.state_dict())
    return made(trace(model, data[:1]), data)


def make_in_place() -> Made:
    data = images(4, SIZE)
    model = init_weights(nets.InPlaceOnInput()).eval()
    return made(trace(model, data[:1].clone(), check=False), data)


def make_training_mode() -> Made:
    data = images(4, SIZE)
    return made(trace(init_weights(nets.Depthwise()).train(), data[:1], check=False), data)


def make_float64() -> Made:
    data = images(4, SIZE).double()
    return made(trace(live(nets.ThreeOperations).double(), data[:1]), data)


def make_scripted(net: Type[nn.Module]) -> Made:
    return made(torch.jit.script(live(net)), images(4, SIZE))


def make_lite() -> Made:
    data = images(4, SIZE)
    module = trace(live(nets.ThreeOperations), data[:1])
    return made(bundle(module, [(data[:1],)]), data, lite=True)


def make_control_flow() -> Made:
    return made(torch.jit.script(init_weights(nets.ControlFlow()).eval()), images(4, SIZE))


def quantised_recipe(prefix: str, style: str, about: str) -> Recipe:
    def make() -> Dict[str, Made]:
        float_model = live(nets.Quantisable)
        fused = nets.Quantisable()
        fused.load_state_dict(float_model.state_dict())
        quantised = quantise(fused.fuse(), [images(16, SIZE) for _ in range(2)], style)
        return quantised_files(prefix, float_model, quantised, images(4, SIZE))

    return Recipe(prefix, list(quantised_names(prefix)), make, f"{about}; input 1,3,{SIZE},{SIZE}")


def output_recipes() -> List[Recipe]:
    """Interfaces and outputs that NNAPI can't express as they are."""
    return [
        single("two_input", make_two_input, "two inputs: 1,3,16,16 and 1,2,16,16"),
        picture_net("tuple_output", nets.TupleOutput, "returns a tuple"),
        picture_net("list_output", nets.ListOutput, "returns a list"),
        picture_net("output_is_input", nets.OutputIsInput, "the second output is the input"),
        picture_net("constant_output", nets.ConstantOutput, "the second output is a constant", constant=(1,)),
        picture_net("repeated_output", nets.RepeatedOutput, "the first output is returned twice"),
        single("unused_input", make_unused_input, "the second input, 1,2, is never read; the first is 1,3,16,16"),
        picture_net("no_operations", nets.NoOperations, "identity and dropout: nothing for NNAPI to do"),
    ]


def refused_recipes() -> List[Recipe]:
    """What must be refused, or handled with care."""
    return [
        single("in_place_input", make_in_place, "overwrites its input; input 1,3,16,16"),
        single("training_mode", make_training_mode, "traced in training mode; input 1,3,16,16"),
        picture_net("unknown_operations", nets.UnknownOperations, "two matrix_exp and a roll"),
        picture_net("refused", nets.Refused, "two matrix_exp, and nothing that multiplies"),
        single("float64", make_float64, "double precision; input 1,3,16,16"),
        single("control_flow", make_control_flow, "scripted, with a branch on the data; input 1,3,16,16"),
    ]


def fixture_recipes() -> List[Recipe]:
    per_tensor = "quantised net with qnnpack's per-tensor weights, its four interfaces and its float twin"
    per_channel = "the same net with fbgemm's per-channel weights"
    return [
        picture_net("three_operations", nets.ThreeOperations, "convolution, relu, max pool"),
        picture_net("conv_bn_relu6", nets.ConvBnRelu6, "unfused batch norm, in-place relu6"),
        picture_net("residual", nets.Residual, "in-place addition and relu"),
        picture_net("depthwise", nets.Depthwise, "an inverted residual, dropout and a classifier"),
        picture_net("ceil_pools", nets.CeilPools, "pools that round up, concatenation", size=18),
        single("bundled", make_bundled, "conv_bn_relu6 with one bundled input; input 1,3,16,16"),
        single("mlp", make_mlp, "linear layers and softmax; input 1,12"),
        single("shared_weights", make_shared_weights, "one convolution used twice and an equal third; input 1,6,12,12"),
        single("scripted", lambda: make_scripted(nets.Residual), "scripted instead of traced; input 1,3,16,16"),
        single("lite", make_lite, "three_operations for the lite interpreter, bundled", suffix=".ptl"),
        quantised_recipe("quant", "qnnpack", per_tensor),
        quantised_recipe("quant_per_channel", "fbgemm", per_channel),
        *output_recipes(),
        *refused_recipes(),
    ]
