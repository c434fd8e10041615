# SPDX-License-Identifier: BSD-3-Clause
"""--int8-weights: files of a quarter of the size, whose models compute in float32 with weights of 255 steps for each
channel."""

import copy
import json
import os
import unittest

import numpy
import torch
from torch import nn

from mobile_models import seeded
from stock_torch import call, images, load, load_lite
from stored_weights import RUNTIMES, StoredWeightsTest

LEAST = 128  # bytes of integers that are stored beside the buffer


def net():
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, groups=32), nn.ReLU(),
                         nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
                         nn.Linear(256, 300), nn.ReLU(), nn.Linear(300, 10))


def on_grid(module):
    """The module with weights that are integers times a step for each output channel."""
    module = copy.deepcopy(module)
    with torch.no_grad():
        for layer in module.modules():
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                rows = layer.weight.flatten(1)
                step = rows.abs().amax(1, keepdim=True) / 127
                layer.weight.copy_(((rows / step).round() * step).view_as(layer.weight))
    return module


def sensitive():
    """A net whose last layer takes small differences of large numbers: rounding its weights ruins the result."""
    module = seeded(net)
    with torch.no_grad():
        first = module[-1].weight[:, :150]
        module[-1].weight[:, 150:] = -first + 1e-4 * torch.randn_like(first)
        module[-3].weight[150:] = module[-3].weight[:150]
        module[-3].bias[150:] = module[-3].bias[:150]
        module[-1].bias.zero_()
    return module


class Int8Weights(StoredWeightsTest):
    def converted(self, path, *options, **places):
        return super().converted(path, "--int8-weights", *options, **places)

    def assert_near(self, expected, found, most=0.01):
        error = (expected - found).abs().max() / (expected.max() - expected.min())
        self.assertLess(error, most)
        return error

    def test_a_quarter_of_the_size(self):
        module = seeded(net)
        path = self.save(module)
        for runtime in RUNTIMES:
            whole = self.folder / "whole.pt"
            self.succeed(path, "--input", "2,3,16,16", "--nhwc", "--runtime", runtime, "--fallback", "none", "-o", whole)
            small, result = self.converted(path, "--runtime", runtime, "--fallback", "none", "--verify")
            self.assertRegex(result.stdout, r"--int8-weights: 5 of 5 weights stored as int8, error at most 0\.\d+ % of "
                                            r"an output's range on 4 seeded samples\n")
            self.assertIn("max error at most 0.01 of the output's range", result.stdout)
            self.assertEqual("", result.stderr)
            weights = 3 * sum(each.numel() for each in module.parameters())
            self.assertAlmostEqual(os.path.getsize(whole) - os.path.getsize(small), weights, delta=0.05 * weights)
            loaded = load(small)
            for seed in range(3):
                x = images(2, 3, 16, 16, seed=seed)
                error = self.assert_near(call(module, x), call(loaded, x))
                self.assertGreater(error, 1e-5)

    def test_large_sums_that_saturate_are_no_fault(self):
        """Rounded weights change large sums a little, and a sigmoid of them from 0 to 1."""
        path = self.save(nn.Sequential(seeded(lambda: nn.Linear(256, 200)), nn.Sigmoid()))
        _, result = self.converted(path, "--verify", sizes="4,256")
        self.assertRegex(result.stdout, r"floats from 1e-8 to 1e4, and both zeros\): output 0: off by 0\.\d+ of the range\n"
                                        r"passed but for the border values above")

    def test_weights_on_a_grid_are_exact(self):
        module = on_grid(seeded(net))
        path = self.save(module)
        for runtime in RUNTIMES:
            out, _ = self.converted(path, "--runtime", runtime)
            x = images(2, 3, 16, 16)
            self.assert_close(call(module, x), call(load(out), x))

    def test_lite_interpreter_and_flexible_sizes(self):
        module = on_grid(seeded(net))
        path = self.save(module)
        for runtime in RUNTIMES:
            out, _ = self.converted(path, "--runtime", runtime, name="out.ptl", sizes="?,3,16,16")
            for rows in (1, 3):
                loaded = load_lite(out)
                for _ in range(2):
                    x = images(rows, 3, 16, 16)
                    self.assert_close(call(module, x), call(loaded, x))

    def test_saved_again(self):
        """A module that has run is saved and loaded again: its weights are multiplied once."""
        module = on_grid(seeded(net))
        out, _ = self.converted(self.save(module))
        loaded = load(out)
        call(loaded, images(2, 3, 16, 16))
        clone = self.folder / "again.pt"
        loaded.comp = None
        torch.jit.save(loaded, str(clone))
        x = images(2, 3, 16, 16, seed=4)
        self.assert_close(call(module, x), call(load(clone), x))

    def test_partitioned(self):
        class Mixed(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.last = on_grid(seeded(net)), on_grid(nn.Sequential(seeded(lambda: nn.Linear(10, 100))))

            def forward(self, x):
                return self.last(torch.cumprod(self.first(x), 1))

        module = Mixed()
        for runtime in RUNTIMES:
            out, _ = self.converted(self.save(module), "--verify", "--runtime", runtime, "--min-segment-macs", "0")
            x = images(2, 3, 16, 16)
            self.assert_close(call(module, x), call(load(out), x), 1e-3)

    def test_without_torch(self):
        module = seeded(net)
        path = self.save(module)
        out, _ = self.converted(path, "--runtime", "shim", "--no-torchscript", "--verify")
        self.succeed("verify", path, out, "--without-torch")

    def test_methods_and_packages(self):
        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = on_grid(seeded(net))

            @torch.jit.export
            def scores(self, x):
                return self.net(x)

            def forward(self, x):
                return torch.softmax(self.net(x), 1)

        module = Two()
        path = self.save(module)
        out = self.folder / "methods.pt"
        result = self.succeed(path, "--input", "x=2,3,16,16", "--nhwc", "--int8-weights", "--method", "forward",
                              "--method", "scores", "-o", out)
        self.assertIn("scores: --int8-weights: 5 of 5", result.stdout)
        x = images(2, 3, 16, 16)
        self.assert_close(module.scores(x), load(out).scores(x.contiguous(memory_format=torch.channels_last)))
        single, _ = self.converted(path, name="single.pt")
        self.assertLess(os.path.getsize(out), 1.3 * os.path.getsize(single) + 20000)
        package, result = self.converted(path, "--runtime", "shim", "--package", "level=3; level=1", name="package.pt")
        self.assertIn("model 2 (level=1): --int8-weights: 5 of 5", result.stdout)
        self.assert_close(call(module, x), call(load(package), x))

    def test_weights_that_would_cost_too_much_stay_float(self):
        module = sensitive()
        path = self.save(module)
        for options, form in (((), "float32"), (("--fp16-weights",), "float16")):
            report = self.folder / "report.json"
            out, result = self.converted(path, *options, "--report", report)
            told = json.loads(report.read_text())["stored_weights"]
            kept = [each for each in told["weights"] if each["stored_as"] == form]
            self.assertIn("FULLY_CONNECTED", kept[-1]["operation"])
            self.assertEqual(3000, kept[-1]["elements"])
            self.assertLess(len(kept), 3)
            self.assertLess(told["error_of_range"], 0.0061)
            self.assertRegex(result.stdout, rf"--int8-weights: {5 - len(kept)} of 5 weights .*; for more it would be too "
                                            rf"large, so that {len(kept)} stays? {form}: .*FULLY_CONNECTED at ")
        x = images(2, 3, 16, 16)
        self.assert_near(call(module, x), call(load(self.converted(path)[0]), x))

    def test_samples_of_the_user(self):
        samples = self.folder / "samples.npy"
        numpy.save(samples, numpy.concatenate([images(1, 3, 16, 16, seed=number).contiguous().numpy()
                                               for number in range(6)]))
        out, result = self.converted(self.save(seeded(net)), "--calibrate", samples, "--keep-float", "FULLY_CONNECTED",
                                     sizes="1,3,16,16")
        self.assertIn("--int8-weights: 2 of 2 weights stored as int8", result.stdout)
        self.assertIn("on 4 samples\n", result.stdout)
        self.succeed("inspect", out)

    def test_nothing_to_round(self):
        _, result = self.converted(self.save(nn.ReLU()), "--min-segment-macs", "0")
        self.assertIn("--int8-weights: no weight of NNAPI's part is float32 and large enough", result.stderr)

    def test_inspect_and_per_op(self):
        path = self.save(seeded(net))
        for runtime in RUNTIMES:
            out, _ = self.converted(path, "--runtime", runtime)
            self.succeed("verify", path, out, "--per-op")
            text = self.succeed("inspect", out).stdout
            if runtime == "shim":
                self.assertIn("5 weights stored as int8", text)
                operands = json.loads(self.succeed("inspect", out, "--format", "json").stdout)["operands"]
                stored = [each for each in operands if each.get("stored_as") == "int8"]
                self.assertEqual([32, 32, 64, 300, 10], [len(each["channel_scales"]) for each in stored])
                self.assertEqual({"TENSOR_FLOAT32"}, {each["type"] for each in stored})

    def test_equal_files(self):
        path = self.save(sensitive())
        first = self.converted(path)[0].read_bytes()
        self.assertEqual(first, self.converted(path)[0].read_bytes())


if __name__ == "__main__":
    unittest.main()
