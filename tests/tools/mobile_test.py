# SPDX-License-Identifier: BSD-3-Clause
"""Files that went through optimize_for_mobile or dynamic quantisation convert as the plain model does."""

import json
import unittest
from typing import Optional

import torch
from torch import nn
from torch.utils.mobile_optimizer import optimize_for_mobile

from cli import CliTest, run
from mobile_models import Cells, Clamps, Residual, Sequence, dynamic, images, rounded, seeded
from stock_torch import StockTorchTest, call, load, tensors


def product(x: torch.Tensor, packed: torch.classes.quantized.LinearPackedParamsBase) -> torch.Tensor:
    return torch.ops.quantized.linear_dynamic(x, packed)


class FreeFunction(nn.Module):
    def __init__(self):
        super().__init__()
        self.packed = torch.ao.nn.quantized.dynamic.Linear(16, 16)._packed_params._packed_params

    def forward(self, x):
        return product(x, self.packed)


class Sizes:
    """An object that forward makes and changes, as detectors make one of the images' sizes."""

    def __init__(self, count: int):
        self.count = count


class BesideObject(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(32, 8)
        self.sizes = Sizes(2)

    def forward(self, x):
        made = Sizes(3)
        made.count = x.size(0)
        return self.second(torch.relu(self.first(x))) * made.count * self.sizes.count


class MobileTest(CliTest, StockTorchTest):
    def save(self, model, example, way=torch.jit.trace):
        scripted = model if isinstance(model, torch.jit.ScriptModule) else (
            torch.jit.trace(model, example) if way is torch.jit.trace else torch.jit.script(model))
        torch.jit.save(scripted, str(self.folder / "model.pt"))
        return scripted

    def report_of(self, model, example, *options):
        """Converts a file; gives the converted module and the report."""
        report = self.folder / "report.json"
        sizes = ",".join(map(str, example.shape))
        path = self.convert(model, "--input", sizes, "--report", report, *options)
        return load(path), json.loads(report.read_text())


class Packed(MobileTest):
    """The conversion unpacks weights that optimize_for_mobile packed for XNNPACK."""

    def check(self, model, way):
        example = images()
        traced = self.save(model, example, way)
        self.report_of(self.folder / "model.pt", example, "--nhwc")
        plain = (self.folder / "report.json").read_text()
        optimised = optimize_for_mobile(torch.jit.freeze(traced))
        path = self.folder / "model.ptl"
        optimised._save_for_lite_interpreter(str(path))
        self.assertRegex(str(torch.jit.load(str(path)).graph), "_clamp_run|_add_relu")
        for layout in ("--nhwc", "--nchw"):
            converted, report = self.report_of(path, example, layout, "--verify")
            self.assertEqual("partition" in json.loads(plain), "partition" in report)
            self.assert_agree(model, converted, [[images(seed)] for seed in range(3)])

    def test_clamps(self):
        for way in (torch.jit.trace, torch.jit.script):
            self.check(seeded(Clamps), way)

    def test_sums(self):
        for in_place in (False, True):
            self.check(seeded(lambda: Residual(in_place)), torch.jit.trace)

    def test_linear(self):
        self.check(seeded(lambda: nn.Sequential(nn.Flatten(), nn.Linear(768, 7, bias=False), nn.ReLU6())),
                   torch.jit.trace)

    def test_cells(self):
        """Cells change parts of packed products in place."""
        model, x = seeded(Cells), torch.randn(4, 10)
        traced = self.save(model, x)
        optimize_for_mobile(traced)._save_for_lite_interpreter(str(self.folder / "model.ptl"))
        converted, report = self.report_of(self.folder / "model.ptl", x, "--verify", "--min-segment-macs", "0")
        self.assertNotIn("partition", report)
        self.assert_agree(model, converted, [[x], [torch.randn(4, 10)]])

    def test_another_size(self):
        """XNNPACK reads beyond a row that is too short; the converted model would raise an error in each call."""
        model = seeded(lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Flatten(),
                                             nn.Linear(8 * 256, 7)))
        optimised = optimize_for_mobile(torch.jit.freeze(self.save(model, images())))
        optimised.save(str(self.folder / "model.pt"))
        optimised._save_for_lite_interpreter(str(self.folder / "model.ptl"))
        for name in ("model.pt", "model.ptl"):
            self.fail_with(1, self.folder / name, "--input", "1,3,32,32", "--nhwc", "-o", self.folder / "out.pt",
                           needed=["the model itself can't run with", "is --input right?"])
            self.succeed(self.folder / name, "--input", "1,3,16,16", "--nhwc", "--verify", "-o",
                         self.folder / "out.pt")

    def test_on_cpu(self):
        """Operations that stay on the CPU use plain weights."""
        class Kept(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 8, 3, padding=1)
                self.linear = nn.Linear(16, 4)

            def forward(self, x):
                return self.linear(torch.linalg.matrix_exp(0.1 * torch.relu(self.conv(x))))

        model = seeded(Kept)
        traced = self.save(model, images())
        optimize_for_mobile(traced)._save_for_lite_interpreter(str(self.folder / "model.ptl"))
        converted, report = self.report_of(self.folder / "model.ptl", images())
        self.assertIn("aten::linalg_matrix_exp", {node["op"] for node in report["partition"]["cpu"]})
        self.assertNotIn("prepacked", str(converted.inlined_graph))
        self.assert_agree(model, converted, [[images(3)]])


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.last = nn.Embedding(60, 16), nn.Linear(16, 40)

    def forward(self, x):
        return self.last(self.table(x))


class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.last = nn.EmbeddingBag(60, 16, mode="sum"), nn.Linear(16, 40)

    def forward(self, x, offsets: Optional[torch.Tensor] = None):
        return self.last(self.table(x, offsets))


class Tables(MobileTest):
    """Embeddings whose rows are rounded: a float table of the same values."""

    def check(self, model, how, config, *samples):
        torch.manual_seed(1)
        model = model().eval()
        model.table.qconfig = config
        torch.ao.quantization.prepare(model, inplace=True)
        torch.ao.quantization.convert(model, inplace=True)
        path = self.folder / "model.pt"
        saved = torch.jit.trace(model, samples[0]) if how is torch.jit.trace else how(model)
        saved.save(str(path))
        options = []
        for sample in samples[0]:
            options += ["--input", ",".join(str(size) for size in sample.shape) + ":int64"]
        result = self.succeed(path, *options, "--min-segment-macs", "0", "--fallback", "none", "-o", self.folder / "out.pt")
        self.assertIn("they become float tables of the same values", result.stderr)
        self.assert_agree(model, load(self.folder / "out.pt"), samples)

    def test_rows(self):
        """PyTorch 1.13's module of 4 bits can't run."""
        samples = [(torch.randint(0, 60, (2, 12)),), (torch.randint(0, 60, (2, 12)),)]
        for how in (torch.jit.trace, torch.jit.script):
            with self.subTest(how=how):
                self.check(Words, how, torch.ao.quantization.float_qparams_weight_only_qconfig, *samples)

    def test_bags_of_one_length(self):
        samples = [(torch.randint(0, 60, (2, 12)),), (torch.randint(0, 60, (2, 12)),)]
        for config in (torch.ao.quantization.float_qparams_weight_only_qconfig,
                       torch.ao.quantization.float_qparams_weight_only_qconfig_4bit):
            with self.subTest(config=config):
                self.check(Bags, torch.jit.trace, config, *samples)

    def test_bags_at_offsets(self):
        samples = [(torch.randint(0, 60, (12,)), torch.tensor([0, 5, 9])), (torch.randint(0, 60, (12,)), torch.tensor([0, 1, 2]))]
        for config in (torch.ao.quantization.float_qparams_weight_only_qconfig,
                       torch.ao.quantization.float_qparams_weight_only_qconfig_4bit):
            with self.subTest(config=config):
                self.check(Bags, torch.jit.trace, config, *samples)


class Dynamic(MobileTest):
    """Rounded weights become float ones, and only the rounding of activations is gone."""

    def check(self, make, shape, operator):
        example = torch.randn(*shape, generator=torch.Generator().manual_seed(0))
        meaning = rounded(seeded(make))
        for way in (torch.jit.trace, torch.jit.script):
            original = self.save(dynamic(seeded(make)), example, way)
            self.assertIn(operator, str(original.inlined_graph))
            result = self.succeed(self.folder / "model.pt", "--input", ",".join(map(str, shape)), "--verify", "-o",
                                  self.folder / "out.pt", "--report", self.folder / "report.json")
            self.assertEqual(1, result.stderr.count("quantised dynamically"), result.stderr)
            self.assertNotIn("qnnpack", result.stderr)
            self.assertIn("compared with the float model that the original stands for", result.stdout)
            report = json.loads((self.folder / "report.json").read_text())
            self.assertNotIn("partition", report)
            found = call(load(self.folder / "out.pt"), example)
            self.assert_close(call(meaning, example), found)
            self.compare_with_original(original, example, found, report["verification"]["original"])

    def compare_with_original(self, original, example, found, said):
        expected = call(original, example)
        self.assertGreater(said["relative_error"], 1e-4)
        for one, other in zip(tensors(expected), tensors(found)):
            spread = (one.max() - one.min()).item()
            self.assertLess((one - other).abs().max().item(), 0.05 * spread)
        self.assertLess(said["relative_error"], 0.05)

    def test_free_function(self):
        """It is found in a function that isn't a method, too."""
        self.save(FreeFunction().eval(), None, torch.jit.script)
        said = self.succeed(self.folder / "model.pt", "--input", "4,16", "-o", self.folder / "out.pt").stderr
        self.assertEqual(1, said.count("quantised dynamically"), said)

    def test_linear(self):
        self.check(lambda: nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 5, bias=False)), (4, 10),
                   "linear_dynamic")

    def test_layers(self):
        self.check(Sequence, (3, 6, 10), "quantized_lstm")

    def test_cells(self):
        self.check(Cells, (4, 10), "quantized_lstm_cell_dynamic")

    def test_verify_fails(self):
        """Verification does not accept the file of another model."""
        example = torch.randn(4, 10)
        files = []
        for seed in range(2):
            torch.manual_seed(seed)
            self.save(dynamic(nn.Sequential(nn.Linear(10, 5))), example)
            files.append(self.folder / f"{seed}.pt")
            (self.folder / "model.pt").rename(files[-1])
        converted = self.convert(files[0], "--input", "4,10")
        self.succeed("verify", files[0], converted)
        self.assertEqual(4, run("verify", files[1], converted).code)

    def test_beside_an_object(self):
        """A changed object is no reason to keep packed weights as attributes."""
        x = torch.randn(4, 16)
        self.save(dynamic(seeded(BesideObject)), x, torch.jit.script)
        converted, report = self.report_of(self.folder / "model.pt", x, "--verify", "--min-segment-macs", "0")
        self.assertEqual(1.0, report["partition"]["mac_share"])
        self.assert_close(call(rounded(seeded(BesideObject)), x), call(converted, x))

    def test_fused(self):
        """An operator that eager quantisation doesn't make, with a scale for each channel."""
        weights = torch.quantize_per_channel(torch.randn(5, 6), torch.rand(5) * 0.02 + 0.01, torch.zeros(5).long(), 0,
                                             torch.qint8)
        bias = torch.randn(5)

        class Fused(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.ops.quantized.linear_prepack(weights, bias)

            def forward(self, x):
                return torch.ops.quantized.linear_relu_dynamic(x, self.linear)

        example = torch.randn(2, 7, 6)
        self.save(Fused(), example)
        converted = load(self.convert(self.folder / "model.pt", "--input", "2,7,6", "--verify"))
        expected = torch.relu(nn.functional.linear(example, weights.dequantize(), bias))
        self.assert_close(expected, call(converted, example))

    def test_convolution_stays(self):
        """PyTorch limits the results of its dynamic convolution to the range of the input: it is left to the CPU."""
        filters = torch.quantize_per_tensor(torch.randn(4, 8, 3, 3), 0.02, 0, torch.qint8)

        class Convolutions(nn.Module):
            def __init__(self):
                super().__init__()
                self.plain = nn.Conv2d(3, 8, 3)
                self.packed = torch.ops.quantized.conv2d_prepack(filters, torch.zeros(4), [1, 1], [1, 1], [1, 1], 1)

            def forward(self, x):
                return torch.ops.quantized.conv2d_dynamic(torch.relu(self.plain(x)), self.packed)

        self.save(seeded(Convolutions), images())
        self.fail_with(1, self.folder / "model.pt", "--input", "1,3,16,16", "--fallback", "none", "-o",
                       self.folder / "out.pt", needed=["quantized::conv2d_dynamic", "dynamic quantisation"])
        converted, report = self.report_of(self.folder / "model.pt", images())
        self.assertIn("quantized::conv2d_dynamic", [node["op"] for node in report["partition"]["cpu"]])
        self.assert_close(call(load(self.folder / "model.pt"), images()), call(converted, images()))


if __name__ == "__main__":
    unittest.main()
