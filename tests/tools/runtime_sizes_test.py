# SPDX-License-Identifier: BSD-3-Clause
"""Rows whose number depends on values (masks, nonzero, nms): segments take some at a time, also none; what mixes rows
stays on the CPU; estimates are called so."""

import json
import unittest

import jsonschema
import torch
import torch.ao.quantization as quantization
import torchvision
from torch import nn
from torch.utils.bundled_inputs import bundle_inputs, bundle_large_tensor

from cli import ROOT, CliTest
from stock_torch import FLOAT_TOLERANCE, StockTorchTest, call, load, load_lite, structure, tensors

SCHEMA = json.loads((ROOT / "schemas" / "report.schema.json").read_text())
LIBRARY = torchvision.extension._get_extension_path("_C")
CHANNELS, SIZE = 12, 8
COUNTS = [0, 1, 2, 5, 17, SIZE * SIZE]
QUANTA = 4 / 255  # of the range: NNAPI and PyTorch round each of four operations differently by up to one step


def picture(count: int, seed: int = 0) -> torch.Tensor:
    """Its first channel is above 1 at `count` places."""
    generator = torch.Generator().manual_seed(seed + 100 * count)
    result = torch.rand(1, 3, SIZE, SIZE, generator=generator)
    places = torch.randperm(SIZE * SIZE, generator=generator)[:count]
    result[0, 0].view(-1)[places] += 1
    return result


class Rows(nn.Module):
    """A convolution's values at the chosen places, one row each, which `use` works on."""

    def __init__(self, use, choose="mask"):
        super().__init__()
        self.features = nn.Conv2d(3, CHANNELS, 3, padding=1)
        self.use, self.choose = use, choose

    def forward(self, x):
        rows = self.features(x)[0].flatten(1).transpose(0, 1)
        mask = x[0, 0].flatten() > 1
        if self.choose == "mask":
            chosen = rows[mask]
        elif self.choose == "nonzero":
            chosen = rows[torch.nonzero(mask)[:, 0]]
        elif self.choose == "where":
            chosen = rows[torch.where(mask)[0]]
        else:
            chosen = torch.masked_select(rows, mask[:, None]).view(-1, CHANNELS)
        return self.use(chosen)


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(CHANNELS, 32), nn.Linear(32, 4)

    def forward(self, rows):
        hidden = torch.relu(self.first(rows))
        return torch.softmax(self.second(hidden), 1), hidden.view(hidden.size(0), 2, 16).permute(2, 0, 1)


class Patches(nn.Module):
    """Each row is a small picture."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.up = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ConvTranspose2d(8, 4, 2, 2)

    def forward(self, rows):
        x = torch.relu(self.norm(self.conv(rows.reshape(-1, 3, 2, 2))))
        return torch.cat([self.up(x), nn.functional.interpolate(x[:, :2], scale_factor=2.0)], 1)


class Mixing(nn.Module):
    """An operation by which each row depends on all of them, between two that it doesn't."""

    def __init__(self, mix):
        super().__init__()
        self.first, self.last, self.mix = nn.Linear(CHANNELS, 32), nn.Linear(32, 4), mix

    def forward(self, rows):
        return self.last(self.mix(self.first(rows)))


class TwoKinds(nn.Module):
    """Two numbers of rows; where they are combined, the size is neither of them."""

    def __init__(self):
        super().__init__()
        self.features = nn.Conv2d(3, CHANNELS, 3, padding=1)
        self.left, self.right, self.both = nn.Linear(CHANNELS, 8), nn.Linear(CHANNELS, 8), nn.Linear(8, 5)

    def forward(self, x):
        rows = self.features(x)[0].flatten(1).transpose(0, 1)
        bright, dark = x[0, 0].flatten() > 1, x[0, 1].flatten() < 0.3
        left, right = torch.tanh(self.left(rows[bright])), self.right(rows[dark])
        return left, right, self.both(torch.cat([left, right])), left @ right.t()


class Detector(nn.Module):
    """Boxes that nms keeps, at most `most`, regions of a feature map, a head."""

    def __init__(self, most=None):
        super().__init__()
        self.features, self.head, self.most = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 6, 3), most

    def forward(self, x):
        features = self.features(x)
        corners = x[0, 1:].flatten(1).t() * 5
        boxes = torch.cat([corners, corners + 3], 1)
        chosen = torch.where(x[0, 0].flatten() > 1)[0]
        boxes = boxes[chosen]
        keep = torchvision.ops.nms(boxes, x[0, 0].flatten()[chosen], 0.3)
        boxes = boxes[keep[:self.most]]
        return self.head(torchvision.ops.roi_align(features, [boxes], (5, 4), 1.0, 2)), boxes


class Scanning(nn.Module):
    """A batch, with an operation between that stays on the CPU."""

    def __init__(self):
        super().__init__()
        self.first, self.last = Perceptron(), nn.Linear(CHANNELS, 5)

    def forward(self, x):
        scale = torch.tanh(self.first.second(torch.relu(self.first.first(x)))[:, :1])
        return self.last(torch.nextafter(x * scale, torch.zeros(1)))


class Integers(nn.Module):
    """A quantised head: a convolution, a sum, a linear layer."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.first, self.second = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 4, 1)
        self.sum, self.last = nn.quantized.FloatFunctional(), nn.Linear(4 * CHANNELS, 5)

    def forward(self, rows):
        x = self.first(self.quant(rows.view(-1, 1, 3, CHANNELS // 3)))
        x = self.sum.add(x, self.second(x))
        return self.dequant(self.last(x.flatten(1)))


def quantised_head():
    torch.manual_seed(0)
    net = Integers().eval()
    net.qconfig = quantization.get_default_qconfig("qnnpack")
    quantization.prepare(net, inplace=True)
    with torch.no_grad():
        for _ in range(4):
            net(torch.randn(8, CHANNELS))
    return quantization.convert(net, inplace=True)


class PaddedPictures(nn.Module):
    """As Detectron2 batches pictures: sizes as tensors, which boxes are clipped to in place."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 4, 3)

    def forward(self, x):
        size = torch.stack([torch.as_tensor(x.shape[2]), torch.as_tensor(x.shape[3])])
        largest = torch.stack([size]).max(0).values
        x = nn.functional.pad(x, [0, largest[1] - size[1], 0, largest[0] - size[0]], value=0.0)
        x = self.last(torch.relu(self.first(x)))
        height, width = size.unbind(0)
        boxes = x.flatten(1)[:, :8].reshape(2, 4)
        boxes = boxes[boxes[:, 0] > -9] * 30
        for proposals in boxes.split([1, 1]):
            proposals[:, 0].clamp_(min=0, max=height)
            proposals[:, 1].clamp_(min=0, max=width)
        return x, boxes


MIXTURES = {
    "softmax": lambda x: torch.softmax(x, 0),
    "mean": lambda x: x - x.mean(0),
    "sum": lambda x: x + x.sum(0, keepdim=True),
    "cumsum": lambda x: torch.cumsum(x, 0),
    "flip": lambda x: x.flip(0),
    "sort": lambda x: x.sort(0)[0],
    "products": lambda x: x @ x.t() @ x,
    "reshape": lambda x: x.reshape(32, -1).t(),
    "slice": lambda x: x[1:],
    "end": lambda x: x[:3],
    "squeeze": lambda x: x[:, None].squeeze(),
    "halves": lambda x: torch.cat([x, x]),
    "number": lambda x: x * x.size(0),
}


class RuntimeSizes(CliTest, StockTorchTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.report = self.folder / "report.json"

    def save(self, model, sample=None):
        path = self.folder / "model.pt"
        torch.jit.trace(model.eval(), picture(9) if sample is None else sample, check_trace=False).save(str(path))
        return path

    def partitioned(self, path, *arguments, out="out.pt"):
        out = self.convert(path, "--input", f"1,3,{SIZE},{SIZE}", "--nhwc", "--min-segment-macs", "0", *arguments,
                           "--report", self.report, out=out)
        report = json.loads(self.report.read_text())
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        return out, report["partition"]

    def assert_same(self, expected, found):
        self.assertEqual(structure(expected), structure(found))
        for one, other in zip(tensors(expected), tensors(found)):
            if one.numel() > 0:
                spread = max((one.max() - one.min()).item(), 1e-3)
                self.assertLessEqual((one - other).abs().max().item(), FLOAT_TOLERANCE * spread)

    def check(self, path, *arguments, loader=load, out="out.pt", counts=tuple(COUNTS)):
        """Checks one loaded module on all numbers of rows. Returns the report's part on segments."""
        out, partition = self.partitioned(path, *arguments, out=out)
        original, converted = load(path), loader(out)
        for count in counts:
            with self.subTest(arguments=arguments, count=count):
                x = picture(count)
                self.assert_same(call(original, x), call(converted, x))
        return partition

    @staticmethod
    def row_segments(partition):
        """Returns the segments that multiply: `--min-segment-macs 0` sends every segment that NNAPI can run."""
        return [segment for segment in partition["segments"] if "rows" in segment and segment["macs"] > 0]

    def test_rows_one_by_one(self):
        for model in (Perceptron(), Patches()):
            for choose in ("mask", "nonzero", "where"):
                with self.subTest(model=type(model).__name__, choose=choose):
                    partition = self.check(self.save(Rows(model, choose)))
                    self.assertEqual(1, len(self.row_segments(partition)))
                    self.assertEqual(1, partition["mac_share"])
        patches = 8 * 4 * 27 + 8 * 4 * 16  # the transposed convolution's by its input's elements
        self.assertEqual(SIZE * SIZE * patches, self.row_segments(partition)[0]["macs"])

    def test_quantised_rows(self):
        path = self.save(Rows(quantised_head()))
        out, partition = self.partitioned(path)
        self.assertEqual({"nnapi": 4, "all": 4}, {key: partition["products"][key] for key in ("nnapi", "all")})
        original, converted = load(path), load(out)
        for count in COUNTS:
            expected, found = call(original, picture(count)), call(converted, picture(count))
            self.assertEqual(structure(expected), structure(found))
            if count > 0:
                self.assertLessEqual((expected - found).abs().max().item(), QUANTA * (expected.max() - expected.min()))

    def test_sizes_as_tensors_beside_writes(self):
        with torch.no_grad():
            path = self.save(PaddedPictures())
        _, partition = self.partitioned(path)
        self.assertEqual({"nnapi": 2, "all": 2}, {key: partition["products"][key] for key in ("nnapi", "all")})
        self.check(path, counts=(9, 17))

    def test_flat_selection(self):
        """How many rows its elements make isn't known to be a whole number."""
        partition = self.check(self.save(Rows(Perceptron(), "select")))
        self.assertEqual([], self.row_segments(partition))

    def test_batch_of_the_input(self):
        """Segments take all of its rows in one call."""
        path = self.save(Scanning(), torch.rand(2, CHANNELS))
        original = load(path)
        out = self.convert(path, "--input", f"?,{CHANNELS}", "--nhwc", "--min-segment-macs", "0", "--report", self.report)
        partition = json.loads(self.report.read_text())["partition"]
        self.assertEqual([None] * 2, [segment.get("rows") for segment in partition["segments"]])
        converted = load(out)
        for batch in (1, 3, 8, 1):
            x = torch.rand(batch, CHANNELS, generator=torch.Generator().manual_seed(batch))
            self.assert_same(call(original, x), call(converted, x))
        for sizes, needed in (((2, 11), r"shape \[2, 11\] found, \[\?, 12\] needed"),
                              ((0, 12), "size 0: 0 found, 1 or more needed")):
            with self.assertRaisesRegex(Exception, "input .*: " + needed):
                call(converted, torch.rand(sizes))

    def test_height_and_width(self):
        """A segment of rows behind one of open sizes."""
        path = self.save(Rows(Perceptron()))
        original = load(path)
        converted = load(self.convert(path, "--input", "1,3,?,?", "--nhwc", "--min-segment-macs", "0"))
        for height, width in ((10, 10), (7, 19), (24, 5), (10, 10)):
            x = torch.rand(1, 3, height, width, generator=torch.Generator().manual_seed(height))
            self.assert_same(call(original, x), call(converted, x))

    def test_sizes_that_break_a_promise(self):
        """The head takes rows of 12 numbers, but the graph can make others: an error, and no wrong numbers."""
        path = self.save(Rows(Perceptron()))
        out, _ = self.partitioned(path)
        module = load(out)
        method = next(name for name in module._c._method_names() if name.startswith("rows_"))
        with self.assertRaisesRegex(Exception, r"segment \d: input x0_.*: shape \[4, 11\] found, \[4, 12\] needed"):
            getattr(module, method)(torch.rand(4, CHANNELS - 1))

    def test_counts_of_bundled_inputs(self):
        path = self.save(Rows(Perceptron()))
        module = load(path)
        samples = [(bundle_large_tensor(picture(count)),) for count in (3, 7, 5)]
        bundled = self.folder / "bundled.pt"
        bundle_inputs(module, samples).save(str(bundled))
        segment, = self.row_segments(self.check(bundled))
        self.assertEqual({"per_call": 7, "estimate": 7, "estimate_from": "samples"}, segment["rows"])

    def test_rows_of_a_call(self):
        path = self.save(Rows(Perceptron()))
        for rows in (1, 3, 64, 100):
            segment, = self.row_segments(self.check(path, "--rows-per-call", str(rows)))
            self.assertEqual(rows, segment["rows"]["per_call"])
        result = self.fail_with(2, path, "--rows-per-call", "-1", "-o", self.folder / "x.pt",
                                needed=["--rows-per-call"])
        self.assertFalse((self.folder / "x.pt").exists(), result)

    def test_shim(self):
        path = self.save(Rows(Patches()))
        _, partition = self.partitioned(path, "--runtime", "shim", "--verify")
        self.assertEqual(1, len(self.row_segments(partition)))

    def test_lite(self):
        self.check(self.save(Rows(Perceptron())), loader=load_lite, out="out.ptl")

    def test_rows_that_depend_on_each_other(self):
        for name, mix in MIXTURES.items():
            with self.subTest(name=name):
                sizes = [8, 17] if name == "reshape" else COUNTS[1:] if name == "slice" else COUNTS
                sizes = [count for count in sizes if name != "squeeze" or count != 0]
                model = Rows(Mixing(mix))
                partition = self.check(self.save(model), counts=sizes)
                reads_before = len(self.row_segments(partition))
                self.assertGreaterEqual(reads_before, 1, "the layer before it goes to NNAPI")
                self.assertTrue(any("values" in node["found"] or "isn't known" in node["found"]
                                    for node in partition["cpu"]))

    def test_two_numbers_of_rows(self):
        partition = self.check(self.save(TwoKinds()))
        self.assertGreaterEqual(len(self.row_segments(partition)), 2)

    def test_detector(self):
        for most in (None, 4):
            path = self.save(Detector(most))
            partition = self.check(path, "--torch-library", LIBRARY)
            segment, = self.row_segments(partition)
            self.assertEqual(4 if most else SIZE * SIZE, segment["rows"]["estimate"])
            self.assertEqual("bound", segment["rows"]["estimate_from"])
            self.assertEqual(1, partition["mac_share"])

    def test_estimates_are_called_so(self):
        path = self.save(Rows(Perceptron()))
        out, partition = self.partitioned(path)
        features = 27 * CHANNELS * SIZE * SIZE
        perceptron = (CHANNELS * 32 + 32 * 4) * SIZE * SIZE
        self.assertAlmostEqual(perceptron / (features + perceptron), partition["estimated_mac_share"])
        text = self.succeed(path, "--input", f"1,3,{SIZE},{SIZE}", "--nhwc", "--min-segment-macs", "0",
                            "-o", out).stderr
        self.assertIn("% of all are estimates, for sizes that depend on values", text)
        self.assertIn(f"{SIZE * SIZE} expected", text)
        _, partition = self.partitioned(self.save(Rows(Mixing(MIXTURES["softmax"]))))
        self.assertGreater(partition["estimated_mac_share"], 0)


if __name__ == "__main__":
    unittest.main()
