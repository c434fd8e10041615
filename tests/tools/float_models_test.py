# SPDX-License-Identifier: BSD-3-Clause
"""Converted float fixtures, run by stock PyTorch on the host's NNAPI, against the originals."""

import unittest

import torch

from cli import CliTest
from stock_torch import StockTorchTest, call, images, load, structure

IMAGE = [(1, 3, 16, 16)]
MODELS = {
    "three_operations.pt": IMAGE,
    "conv_bn_relu6.pt": IMAGE,
    "residual.pt": IMAGE,
    "depthwise.pt": IMAGE,
    "ceil_pools.pt": [(1, 3, 18, 18)],
    "mlp.pt": [(1, 12)],
    "shared_weights.pt": [(1, 6, 12, 12)],
    "scripted.pt": IMAGE,
    "lite.ptl": IMAGE,
    "two_input.pt": [(1, 3, 16, 16), (1, 2, 16, 16)],
    "tuple_output.pt": IMAGE,
    "list_output.pt": IMAGE,
    "quant_float.pt": IMAGE,
    "in_place_input.pt": IMAGE,
}
LAYOUTS = ["--nhwc", "--nchw"]


def specs(shapes):
    return [word for shape in shapes for word in ("--input", ",".join(map(str, shape)))]


def samples(shapes, count=3):
    return [[images(*shape, seed=10 * number + i) for i, shape in enumerate(shapes)] for number in range(count)]


def signature(module):
    """Returns names and types of forward's arguments, and the type of its result."""
    schema = module.forward.schema
    arguments = [(argument.name, str(argument.type)) for argument in schema.arguments[1:]]
    return arguments, [str(result.type) for result in schema.returns]


class FloatModels(CliTest, StockTorchTest):
    def convert_and_load(self, name, shapes, *options):
        out = self.convert(name, *specs(shapes), *options)
        return load(self.fixture(name)), load(out)

    def test_values_and_signatures(self):
        for name, shapes in MODELS.items():
            for layout in LAYOUTS:
                with self.subTest(name=name, layout=layout):
                    original, converted = self.convert_and_load(name, shapes, layout)
                    self.assertEqual(signature(original), signature(converted))
                    self.assert_agree(original, converted, samples(shapes))

    def test_verified_by_the_program(self):
        for name, shapes in list(MODELS.items())[:6]:
            with self.subTest(name=name):
                self.convert(name, *specs(shapes), "--nhwc", "--verify")

    def test_channels_last_arguments(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                original, converted = self.convert_and_load("depthwise.pt", IMAGE, layout)
                for (picture,) in samples(IMAGE):
                    expected = call(original, picture)
                    self.assert_close(expected, call(converted, picture.contiguous(memory_format=torch.channels_last)))
                    self.assert_close(expected, call(converted, picture.transpose(2, 3).contiguous().transpose(2, 3)))

    def test_arguments_are_left_alone(self):
        _, converted = self.convert_and_load("in_place_input.pt", IMAGE, "--nhwc")
        (picture,) = samples(IMAGE, 1)[0]
        before = picture.clone()
        converted(picture)
        self.assertTrue(torch.equal(before, picture))

    def test_results_are_their_own_memory(self):
        """A second call leaves the first call's result as it was."""
        original, converted = self.convert_and_load("tuple_output.pt", IMAGE, "--nhwc")
        one, other = samples(IMAGE, 2)
        first = call(converted, *one)
        call(converted, *other)
        self.assert_close(call(original, *one), first)

    def test_some_inputs_in_nhwc(self):
        shapes = MODELS["two_input.pt"]
        for layout in ("--nhwc=0", "--nhwc=1", "--nhwc=0,1"):
            with self.subTest(layout=layout):
                self.assert_agree(*self.convert_and_load("two_input.pt", shapes, layout), samples(shapes))

    def test_inputs_by_name_in_any_order(self):
        out = self.convert("two_input.pt", "--input", "depth=1,2,16,16", "--input", "colour=1,3,16,16", "--nhwc")
        self.assert_agree(load(self.fixture("two_input.pt")), load(out), samples(MODELS["two_input.pt"]))

    def test_keyword_arguments(self):
        original, converted = self.convert_and_load("two_input.pt", MODELS["two_input.pt"], "--nhwc")
        colour, depth = samples(MODELS["two_input.pt"], 1)[0]
        self.assert_close(original(colour, depth), converted(depth=depth, colour=colour))


class WhatNnapiCanNotSay(CliTest, StockTorchTest):
    """Outputs that are inputs, constants or repeats, and inputs that nobody reads."""

    def both(self, name, *more):
        out = self.convert(name, "--input", "1,3,16,16", *more, "--nhwc")
        return load(self.fixture(name)), load(out)

    def test_output_is_input(self):
        original, converted = self.both("output_is_input.pt")
        self.assert_agree(original, converted, samples(IMAGE))

    def test_constant_output(self):
        original, converted = self.both("constant_output.pt")
        for inputs in samples(IMAGE):
            expected, found = call(original, *inputs), call(converted, *inputs)
            self.assertEqual(structure(expected), structure(found))
            self.assert_close(expected[0], found[0])
            self.assertTrue(torch.equal(expected[1], found[1]))

    def test_repeated_output(self):
        original, converted = self.both("repeated_output.pt")
        self.assert_agree(original, converted, samples(IMAGE))

    def test_unused_input(self):
        original, converted = self.both("unused_input.pt", "--input", "1,2")
        self.assert_agree(original, converted, samples([(1, 3, 16, 16), (1, 2)]))


class WrongArguments(CliTest, StockTorchTest):
    def setUp(self):
        super().setUp()
        self.module = load(self.convert("two_input.pt", *specs(MODELS["two_input.pt"]), "--nhwc"))
        self.good = samples(MODELS["two_input.pt"], 1)[0]

    def assert_message(self, needed, *arguments):
        with self.assertRaises(Exception) as caught:
            call(self.module, *arguments)
        self.assertIn(needed, str(caught.exception))

    def test_shape(self):
        colour, depth = self.good
        self.assert_message("nnapi-convert: input colour: shape [1, 3, 8, 16] found, [1, 3, 16, 16] needed",
                            colour[:, :, :8], depth)
        self.assert_message("nnapi-convert: input depth: shape [2, 16, 16] found, [1, 2, 16, 16] needed", colour,
                            depth[0])
        self.assert_message("nnapi-convert: input colour: shape [1, 2, 16, 16] found, [1, 3, 16, 16] needed", depth,
                            colour)

    def test_dtype(self):
        colour, depth = self.good
        self.assert_message("input depth: dtype number 7 found, 6 (float32) needed", colour, depth.double())
        self.assert_message("input depth: dtype number 3 found, 6 (float32) needed", colour, depth.int())

    def test_quantised_tensor(self):
        colour, depth = self.good
        quantised = torch.quantize_per_tensor(depth, 0.1, 3, torch.quint8)
        self.assert_message("input depth: dtype number 13 found, 6 (float32) needed", colour, quantised)

    def test_good_arguments_still_work(self):
        colour, depth = self.good
        expected = call(self.module, colour, depth)
        self.assert_message("shape", depth, depth)
        self.assertTrue(torch.equal(expected, call(self.module, colour, depth)))


if __name__ == "__main__":
    unittest.main()
