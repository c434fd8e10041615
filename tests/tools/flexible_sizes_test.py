# SPDX-License-Identifier: BSD-3-Clause
"""Sizes that are known at each call: written as "?"."""

import unittest

import torch
from torch import nn

from cli import CliTest
from stock_torch import StockTorchTest, call, images, load

SIZES = [(1, 16, 16), (1, 17, 23), (3, 32, 18), (2, 9, 40)]
ANY = ["--input", "?,3,?,?"]
MODELS = ["three_operations.pt", "conv_bn_relu6.pt", "residual.pt", "depthwise.pt", "ceil_pools.pt", "tuple_output.pt",
          "scripted.pt"]


class FlexibleSizes(CliTest, StockTorchTest):
    def assert_agree_at(self, name, out, sizes):
        """Loads the module again for each size, since the first run fixes the size."""
        original = load(self.fixture(name))
        for number, (batch, height, width) in enumerate(sizes):
            with self.subTest(name=name, size=(batch, height, width)):
                picture = images(batch, 3, height, width, seed=number)
                converted = load(out)
                expected = call(original, picture)
                self.assert_close(expected, call(converted, picture))
                other = images(batch, 3, height, width, seed=number + 100)
                self.assert_close(call(original, other), call(converted, other))

    def test_all_sizes_of_a_picture(self):
        for name in MODELS:
            for layout in ("--nhwc", "--nchw"):
                self.assert_agree_at(name, self.convert(name, *ANY, layout), SIZES)

    def test_open_only_where_asked(self):
        """Results that grow with the picture have no usual size: the message says how to have any."""
        self.fail_with(1, self.fixture("residual.pt"), "-o", self.folder / "out.pt",
                       needed=["only 1,3,?,?", "--input 1,3,224,224", "for any size --input '1,3,?,?'"])

    def test_height_and_width(self):
        out = self.convert("depthwise.pt", "--input", "1,3,?,?", "--nhwc")
        self.assert_agree_at("depthwise.pt", out, [(1, 16, 16), (1, 21, 12)])

    def test_batch_and_width_by_name(self):
        out = self.convert("residual.pt", "--input", "picture=?,3,16,?", "--nhwc")
        self.assert_agree_at("residual.pt", out, [(1, 16, 16), (4, 16, 31)])

    def test_batch_of_a_perceptron(self):
        out = self.convert("mlp.pt", "--input", "?,12")
        original = load(self.fixture("mlp.pt"))
        for batch in (1, 5):
            rows = images(batch, 12, seed=batch)
            self.assert_close(call(original, rows), call(load(out), rows))

    def test_two_flexible_inputs(self):
        out = self.convert("two_input.pt", "--input", "1,3,?,?", "--input", "1,2,?,?", "--nhwc")
        original = load(self.fixture("two_input.pt"))
        for size in (16, 25):
            pair = images(1, 3, size, size), images(1, 2, size, size, seed=1)
            self.assert_close(call(original, *pair), call(load(out), *pair))

    def test_two_flexible_inputs_that_differ(self):
        """The sum of the branches needs equal sizes: a message, and no wrong numbers."""
        out = self.convert("two_input.pt", "--input", "1,3,?,?", "--input", "1,2,?,?", "--nhwc")
        with self.assertRaises(Exception):
            call(load(out), images(1, 3, 16, 16), images(1, 2, 12, 12))

    def test_quantised_model(self):
        model = self.fixture("quant_unbundled.pt")
        out = self.convert(model, *ANY, "--nhwc", "--quant", "full")
        for size in ("1,3,16,16", "2,3,20,12"):
            self.succeed("verify", model, out, "--input", size)

    def test_each_call_may_have_its_own_sizes(self):
        original, converted = load(self.fixture("depthwise.pt")), load(self.convert("depthwise.pt", *ANY, "--nhwc"))
        for size in (16, 20, 16, 12, 18, 24, 16):
            picture = images(1, 3, size, 16)
            self.assert_close(call(original, picture), call(converted, picture))

    def test_named_sizes(self):
        """One name is one size, and 8*n is a multiple of 8; another call gets the size that is needed."""
        model, given = self.fixture("residual.pt"), ["--input", "1,3,8*n,8*n", "--nhwc"]
        self.succeed("verify", model, self.convert("residual.pt", *given, "--runtime", "shim", out="shim.pt"))
        out = self.convert("residual.pt", *given)
        self.succeed("verify", model, out)
        original, converted = load(model), load(out)
        for side in (16, 40, 8):
            picture = images(1, 3, side, side)
            self.assert_close(call(original, picture), call(converted, picture))
        for height, width in ((16, 24), (20, 20)):
            with self.assertRaisesRegex(Exception, "size 3: 24 found|size 2: 20 found"):
                call(converted, images(1, 3, height, width))
        for wrong in ("1,3,0*n,n", "1,3,*n,n", "1,3,8*n*n,n", "1,3,n+1,n"):
            self.fail_with(2, self.fixture("residual.pt"), "--input", wrong, "-o", self.folder / "none.pt", needed=["size "])

    def test_fixed_sizes_are_still_checked(self):
        converted = load(self.convert("depthwise.pt", "--input", "1,3,?,?", "--nhwc"))
        for shape in [(1, 4, 16, 16), (2, 3, 16, 16), (3, 16, 16)]:
            with self.assertRaises(Exception) as caught:
                call(converted, images(*shape))
            self.assertIn("input picture: shape", str(caught.exception))
            self.assertIn("[1, 3, ?, ?] needed", str(caught.exception))

    def test_longest_arange(self):
        """Its numbers are the first of a constant: a longer one is an error, not a shorter result."""
        class Places(torch.nn.Module):
            def forward(self, x):
                return x * torch.arange(x.size(0), dtype=torch.float32)

        path, longest = self.folder / "places.pt", 16384
        torch.jit.script(Places()).save(str(path))
        result = self.succeed(path, "--input", "?", "--min-segment-macs", "0", "-o", self.folder / "out.pt")
        self.assertIn(f"{longest} elements", result.stderr)
        places = torch.arange(longest, dtype=torch.float32)
        self.assertTrue(load(self.folder / "out.pt")(torch.ones(longest)).equal(places))
        with self.assertRaises(RuntimeError):
            load(self.folder / "out.pt")(torch.ones(longest + 1))

    def test_verify_at_the_size_asked_for(self):
        out = self.convert("depthwise.pt", *ANY, "--nhwc")
        self.succeed("verify", self.fixture("depthwise.pt"), out)
        result = self.succeed("verify", self.fixture("residual.pt"), self.convert("residual.pt", *ANY, "--nhwc", out="r.pt"),
                              "--input", "2,3,10,14")
        self.assertIn("[2, 8, 10, 14]", result.stdout)

    def test_bounds_of_any_sign_are_refused(self):
        """x[1 - n:] begins at 0 for one row, and counts from the end for more."""
        path = self.folder / "model.pt"

        class Tail(nn.Module):
            def forward(self, x):
                return torch.relu(x)[1 - x.size(0):]

        torch.jit.script(Tail()).save(str(path))
        self.fail_with(1, path, "--input", "?,8", "--fallback", "none", "-o", self.folder / "out.pt",
                       needed=["start -x0.0 + 1 may be negative or not", "give every size"])

    def test_channels_can_not_be_flexible(self):
        self.fail_with(1, self.fixture("depthwise.pt"), "--input", "1,?,16,16", "--nhwc", "-o", self.folder / "out.pt",
                       needed=["aten::_convolution", "3 channels"])

    def test_one_step_cuts_itself_alone(self):
        """What NNAPI can't do with an open size stays on the CPU; the convolution before goes to NNAPI."""
        class Resized(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 4, 3, stride=2)

            def forward(self, x):
                height, width = x.size(2), x.size(3)
                x = self.conv(x)
                return nn.functional.interpolate(x, size=[height, width], mode="bilinear")

        path = self.folder / "resized.pt"
        torch.jit.script(Resized().eval()).save(str(path))
        original, out = load(path), self.folder / "out.pt"
        said = self.succeed(path, "--input", "1,3,?,?", "--nhwc", "--min-segment-macs", "0", "-o", out).stderr
        self.assertIn("1  aten::upsample_bilinear2d", said)
        converted = load(out)
        for height, width in ((16, 16), (9, 31), (40, 12), (16, 16), (7, 8), (100, 3)):
            picture = images(1, 3, height, width)
            self.assert_close(call(original, picture), call(converted, picture))

    def test_rank_not_known(self):
        """A perceptron takes rows of any rank: a batch of one row is taken, with a word."""
        said = self.succeed(self.fixture("mlp.pt"), "-o", self.folder / "out.pt").stderr
        self.assertIn("input input: 1,12, from the weights", said)

    def test_bundling_needs_sizes(self):
        self.fail_with(2, self.fixture("depthwise.pt"), *ANY, "--nhwc", "--bundle-inputs", "-o", self.folder / "out.pt",
                       needed=["--bundle-inputs", "give every size with --input"])


if __name__ == "__main__":
    unittest.main()
