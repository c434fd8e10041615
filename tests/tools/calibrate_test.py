# SPDX-License-Identifier: BSD-3-Clause
"""Float models that the command quantises by data: results on stock PyTorch and the host's NNAPI, interfaces, targets."""

import json
import re
import unittest
import zipfile
from typing import List, Tuple

import jsonschema
import torch
from torch import nn

from calibrate_models import SHIM, CalibrateTest, FloatInside, picture_samples, snr
from cli import ROOT
from stock_torch import call, load


class Interfaces(CalibrateTest):
    def setUp(self):
        super().setUp()
        self.make_net()

    def check(self, *options, needed=25):
        out = self.convert(self.model, *self.spec, "--calibrate", self.data, *options)
        expected, found = self.results(self.model, out, self.pictures[64:])
        self.assertGreater(snr(expected, found), needed)
        return out

    def test_nnapi(self):
        for layout in ("--nhwc", "--nchw"):
            operations = self.operations(self.check(layout))
            self.assertEqual(1, operations.count("QUANTIZE"))
            self.assertEqual(1, operations.count("DEQUANTIZE"))

    def test_core(self):
        self.assertNotIn("QUANTIZE", self.operations(self.check("--nhwc", "--quant", "core")))

    def test_full(self):
        out = self.convert(self.model, *self.spec, "--nhwc", "--calibrate", self.data, "--quant", "full")
        self.assertNotIn("QUANTIZE", self.operations(out))
        converted, original = load(out), load(self.model)
        with zipfile.ZipFile(out) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith("nnapi_convert.json")]
            quantisation = json.loads(archive.read(name))["inputs"][0]["quantization"]
        expected, found = [], []
        for picture in self.pictures[64:].unsqueeze(1):
            argument = torch.quantize_per_tensor(picture, quantisation["scale"], quantisation["zero_point"], torch.quint8)
            found.append(call(converted, argument).dequantize())
            expected.append(call(original, picture))
        self.assertGreater(snr(torch.cat(expected), torch.cat(found)), 25)

    def test_below_level_3(self):
        out = self.convert(self.model, *self.spec, "--nhwc", "--calibrate", self.data, "--quant", "core",
                           "--feature-level", "2")
        expected, found = self.results(self.model, out, self.pictures[64:])
        self.assertGreater(snr(expected, found), 22)

    def test_levels(self):
        """Below level 3 NNAPI makes no integers of floats. The net needs level 2."""
        for level in range(2, 7):
            for runtime in ([], SHIM) if level > 2 else ([],):
                with self.subTest(level=level, runtime=runtime):
                    for mode in ("core", "full"):
                        self.convert(self.model, *self.spec, "--nhwc", "--calibrate", self.data, "--quant", mode,
                                     "--feature-level", level, *runtime, "--verify")
                    options = [*self.spec, "--nhwc", "--calibrate", self.data, "--feature-level", level, *runtime]
                    if level > 2:
                        self.convert(self.model, *options, "--verify")
                    else:
                        self.fail_with(1, self.model, *options, "-o", self.folder / "no.pt",
                                       needed=["from feature level 3 on", "--quant core"])
        self.fail_with(1, self.model, *self.spec, "--nhwc", "--calibrate", self.data, "--feature-level", "2", "--quant",
                       "core", "--keep-float", "CONCATENATION", "-o", self.folder / "no.pt",
                       needed=["CONCATENATION", "has floats", "use --min-api 29 (feature level 3)"])

    def test_verify(self):
        for runtime in ([], SHIM):
            out = self.convert(self.model, *self.spec, "--nhwc", "--calibrate", self.data, *runtime, "--verify")
            text = self.succeed("verify", self.model, out, "--inputs", self.data).stdout
            self.assertIn("calibration measured", text)
            self.assertIn("unlike the data", self.succeed("verify", self.model, out).stdout)
            self.fail_with(2, "verify", self.model, out, "--per-op", needed=["quantised by data"])

    def test_report(self):
        """Each integer operation has its losses; those of a rounded depthwise filter are found."""
        report, page = self.folder / "report.json", self.folder / "page.html"
        text = self.succeed(self.model, *self.spec, "--nhwc", "--calibrate", self.data, "--report", report, "--report",
                            page, "-o", self.folder / "out.pt").stdout
        self.assertIn("operations that lose most", text)
        found = json.loads(report.read_text())
        jsonschema.Draft202012Validator(json.loads((ROOT / "schemas/report.schema.json").read_text())).validate(found)
        (segment,) = found["calibration"]["segments"]
        self.assertEqual(segment["integer_operation_count"], len(segment["losses"]))
        convolutions = [loss for loss in segment["losses"] if loss["operation"] == "CONV_2D"]
        for loss in convolutions:
            self.assertGreater(loss["snr_db_alone"], 20)
            self.assertLess(loss["snr_db_cumulated"], loss["snr_db_alone"] + 3)
            self.assertGreater(loss["snr_db_weights"], loss["snr_db_alone"] - 1)
            self.assertGreater(loss["snr_db_activations"], loss["snr_db_alone"] - 1)
        self.assertIn("Quantised by data", page.read_text())
        distance = segment["distance"]
        lowest, highest = distance["top1_interval"]
        self.assertTrue(0 < lowest <= distance["top1_agreement"] <= highest <= 1, distance)
        self.assertIn(f"({100 * lowest:.1f} to {100 * highest:.1f})", text)
        for loss in segment["losses"]:
            values = loss["values"]
            self.assertEqual(40, len(values["counts"]))
            self.assertGreater(sum(count > 0 for count in values["counts"]), 5, values)
            self.assertLess(values["lowest"], values["highest"])
            self.assertLess(values["scale_lowest"], values["scale_highest"])

    def test_same_bytes_again(self):
        first = self.convert(self.model, *self.spec, "--nhwc", "--calibrate", self.data, out="a/out.pt")
        second = self.convert(self.model, *self.spec, "--nhwc", "--calibrate", self.data, out="b/out.pt")
        self.assertEqual(first.read_bytes(), second.read_bytes())

    def convert(self, model, *arguments, out="out.pt", **options):
        (self.folder / out).parent.mkdir(exist_ok=True)
        return super().convert(model, *arguments, out=out, **options)


class Flexible(CalibrateTest):
    def test_sizes(self):
        """Samples of several sizes, for a model that takes any."""
        self.make_net()
        larger = picture_samples(16, size=32, seed=1)
        data = self.samples([*self.pictures[:48].unsqueeze(1), *larger.unsqueeze(1)])
        out = self.convert(self.model, "--input", "1,3,?,?", "--nhwc", *SHIM, "--calibrate", data)
        self.assertIn("passed", self.succeed("verify", self.model, out, "--inputs", data).stdout)


class Spread(nn.Module):
    """A depthwise convolution whose channels differ in size by 100,000."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.depthwise = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.second = nn.Conv2d(16, 16, 1)
        self.last = nn.Linear(16, 10)
        sizes = torch.logspace(-2.5, 2.5, 16)
        with torch.no_grad():
            self.depthwise.weight *= sizes.view(16, 1, 1, 1)
            self.depthwise.bias *= sizes
            self.second.weight /= sizes.view(1, 16, 1, 1)
            self.second.weight *= 5
            self.last.weight *= 20

    def forward(self, x):
        x = torch.relu(self.depthwise(torch.relu(self.first(x))))
        return self.last(torch.relu(self.second(x)).mean((2, 3)))


class Equalisation(CalibrateTest):
    def results_of(self, *options):
        torch.manual_seed(5)
        pictures = picture_samples(148)
        model = self.trace(Spread(), pictures[:48])
        data = self.samples(list(pictures[:48].unsqueeze(1)))
        out = self.convert(model, "--nhwc", "--input", "1,3,16,16", "--calibrate", data, *options)
        return self.results(model, out, pictures[48:])

    def test_one_scale_for_each_tensor(self):
        """Without equalisation most channels round to nothing, and the network collapses; with it the network holds."""
        self.assertLess(snr(*self.results_of("--without", "equalise")), 3)
        self.assertGreater(snr(*self.results_of()), 25)

    def test_scales_for_each_channel(self):
        torch.manual_seed(5)
        pictures = picture_samples(64)
        model = self.trace(Spread(), pictures)
        data, others = self.samples(list(pictures[:48].unsqueeze(1))), self.samples(list(pictures[48:].unsqueeze(1)), "o.pt")
        out = self.convert(model, "--nhwc", "--input", "1,3,16,16", *SHIM, "--calibrate", data)
        self.assertIn("passed", self.succeed("verify", model, out, "--inputs", others).stdout)


class Islands(CalibrateTest):
    def test_float_between_integers(self):
        pictures = picture_samples(32)
        model = self.trace(FloatInside(), pictures)
        data = self.samples(list(pictures.unsqueeze(1)))
        out = self.convert(model, "--nhwc", "--input", "1,3,16,16", "--calibrate", data)
        operations = self.operations(out)
        self.assertEqual(2, operations.count("QUANTIZE"))
        self.assertEqual(2, operations.count("DEQUANTIZE"))
        self.succeed("verify", model, out, "--inputs", data)

    def test_kept_float(self):
        self.make_net()
        options = [*self.spec, "--nhwc", "--calibrate", self.data]
        for name in ("FULLY_CONNECTED", "DEPTHWISE_CONV_2D"):
            out = self.convert(self.model, *options, "--keep-float", name)
            expected, found = self.results(self.model, out, self.pictures[64:])
            self.assertGreater(snr(expected, found), 25)
        self.fail_with(2, self.model, *options, "--keep-float", "CONV_3D", "-o", self.folder / "no.pt",
                       needed=["--keep-float CONV_3D", "no operation found"])


class BranchInside(nn.Module):
    """A branch on values between linear layers: NNAPI's IF, from feature level 4 on."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x):
        y = torch.relu(self.first(x))
        if bool(y.sum() > 5.0):
            y = y * 2.0
        else:
            y = y + 1.0
        return self.last(y)


class Branches(CalibrateTest):
    def test_branch_of_nnapi(self):
        torch.manual_seed(3)
        model, samples = self.folder / "branch.pt", list(torch.randn(40, 2, 8))
        torch.jit.script(BranchInside().eval()).save(str(model))
        data = self.samples(samples)
        out = self.convert(model, "--input", "2,8", "--feature-level", "4", *SHIM, "--control-flow", "nnapi",
                           "--calibrate", data)
        self.assertIn("IF", self.operations(out))
        verified = json.loads(self.succeed("verify", model, out, "--inputs", data, "--format", "json").stdout)
        self.assertTrue(verified["passed"])
        self.assertGreater(verified["outputs"][0]["snr_db"], 20)


NEEDS_PYTORCH = [*SHIM, "--needs-pytorch"]


class CpuInside(nn.Module):
    """An operation that NNAPI hasn't, between convolutions."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 16, 3, padding=1)
        self.last = nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.first(x))
        x = torch.nextafter(x, x + 1)
        return self.last(torch.relu(self.second(x)).mean((2, 3)))


class Rounds(nn.Module):
    """A convolution in a loop, and a result of a size that depends on values."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.again = nn.Conv2d(16, 16, 3, padding=1)

    def forward(self, images: List[torch.Tensor]) -> Tuple[torch.Tensor, torch.Tensor]:
        x = torch.relu(self.first(images[0]))
        rounds = 2 + int(x.max() > 3)
        for i in range(rounds):
            x = torch.relu(self.again(x)) + x
        found = x.mean((2, 3))
        return found, x[x > x.mean()]


class Partitioned(CalibrateTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(7)
        self.pictures = picture_samples(64)
        self.model = self.trace(CpuInside(), self.pictures)
        self.data = self.samples(list(self.pictures[:48].unsqueeze(1)))
        self.options = ["--input", "1,3,16,16", "--nhwc", "--fallback", "partition", "--calibrate", self.data]

    def partitioned(self, *options):
        """What is printed, and the operations of each segment."""
        report = self.folder / "report.json"
        text = self.succeed(self.model, *self.options, *options, "--report", report, "-o", self.folder / "out.pt").stdout
        return text, [segment["operations"] for segment in json.loads(report.read_text())["partition"]["segments"]]

    def test_each_segment_computes_with_integers(self):
        for options in ([], NEEDS_PYTORCH, ["--quant", "core"], [*NEEDS_PYTORCH, "--quant", "core"]):
            with self.subTest(options=options):
                text, segments = self.partitioned(*options, "--verify")
                self.assertIn("segment 1: quantised", text)
                self.assertIn("calibration measured", text)
                self.assertEqual(2, len(segments))
                for operations in segments:
                    self.assertEqual("core" in options, "QUANTIZE" not in operations)
                if SHIM[0] in options:
                    continue
                expected, found = self.results(self.model, self.folder / "out.pt", self.pictures[48:])
                self.assertGreater(snr(expected, found), 25)

    def test_same_bytes_again(self):
        files = []
        for name in ("a", "b"):
            (self.folder / name).mkdir()
            files.append(self.folder / name / "out.pt")
            self.succeed(self.model, *self.options, "-o", files[-1])
        self.assertEqual(files[0].read_bytes(), files[1].read_bytes())

    def test_kept_float_in_one_segment(self):
        _, segments = self.partitioned("--keep-float", "FULLY_CONNECTED")
        self.assertIn("DEQUANTIZE", segments[1])
        self.fail_with(2, self.model, *self.options, "--keep-float", "CONV_3D", "-o", self.folder / "no.pt",
                       needed=["--keep-float CONV_3D", "no operation found"])

    def test_whole_integers_are_refused(self):
        self.fail_with(1, self.model, *self.options, "--quant", "full", "-o", self.folder / "no.pt",
                       needed=["--quant full", "stay on the CPU"])

    def test_segments_in_loops_and_results_of_other_sizes(self):
        torch.manual_seed(1)
        path = self.folder / "rounds.pt"
        torch.jit.script(Rounds().eval()).save(str(path))
        text = self.succeed(path, "--input", "images[0]=1,3,16,16", "--nhwc", "--fallback", "partition",
                            "--min-segment-macs", "0", "--calibrate", self.data, "-o", self.folder / "out.pt").stdout
        self.assertIn("segment 2: quantised 2 of 2 operations by 79 samples", text)  # two rounds or three
        self.assertIn("other sizes than the float model's", text)

    def test_state_stays_as_it_was(self):
        """The runs of the calibration change no state of what is written."""
        torch.manual_seed(1)
        path = self.folder / "counting.pt"
        torch.jit.script(Counting().eval()).save(str(path))
        out = self.convert(path, *self.options)
        self.assertEqual(0, load(path).seen.item())
        module = load(out)
        first = call(module, self.pictures[:1])
        self.assertLess((call(load(path), self.pictures[:1]) - first).abs().max().item(), 0.2)
        self.assertGreater((call(module, self.pictures[:1]) - first).abs().min().item(), 0.5)


class Counting(nn.Module):
    """Its results grow by one with each call."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        x = torch.relu(self.first(x))
        self.seen += 1
        return x + self.seen


class Head(nn.Module):
    """A detector's: boxes in pixels joined to scores, a result for each of 100 places."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.boxes, self.scores = nn.Conv2d(16, 4, 3, padding=1), nn.Conv2d(16, 4, 3, padding=1)

    def forward(self, x):
        x = torch.relu(self.first(x))
        boxes = torch.sigmoid(self.boxes(x)) * 640
        return torch.cat((boxes, torch.sigmoid(self.scores(x) * 4)), 1).flatten(2)


class Maps(nn.Module):
    """A distance in millimetres and a mask, channels of one picture."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 2, 3, padding=1)
        with torch.no_grad():
            self.last.weight[0] *= 10_000

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))


class Slices(CalibrateTest):
    """A small part of an output loses nothing beside a large one, or a warning names it."""

    def make(self, module):
        torch.manual_seed(2)
        self.pictures = picture_samples(60, size=10)
        self.model = self.trace(module, self.pictures)
        self.data = self.samples(list(self.pictures[:40].unsqueeze(1)))
        self.options = [self.model, "--input", "1,3,10,10", "--nhwc", "--calibrate", self.data, "-o", self.folder / "out.pt"]

    def channel_snr(self, first):
        expected, found = self.results(self.model, self.folder / "out.pt", self.pictures[40:])
        return snr(expected[:, first:], found[:, first:])

    def test_head_keeps_its_scores(self):
        self.make(Head())
        for layout in ("--nhwc", "--nchw"):
            result = self.succeed(*[layout if option == "--nhwc" else option for option in self.options])
            self.assertGreater(self.channel_snr(4), 25)
            self.assertNotIn("beside larger ones", result.stderr)
            self.assertRegex(result.stdout, r"left float: CONCATENATION .*, the ranges of whose parts differ \d+ times")

    def test_head_in_integers_is_warned_of(self):
        self.make(Head())
        result = self.succeed(*self.options, "--quant", "core")
        self.assertIn("output 0: channels 4 to 7 of 8 (axis 1) lose their values beside larger ones", result.stderr)
        self.assertIn("--quant nnapi keeps them", result.stderr)
        self.assertLess(self.channel_snr(4), 5)

    def test_channel_of_a_picture(self):
        """The option that the warning names mends it."""
        self.make(Maps())
        result = self.succeed(*self.options)
        warning = re.search(r"output 0: channel 1 of 2 \(axis 1\) loses its values beside larger ones .*: (--keep-float \S+) "
                            r"keeps them", result.stderr)
        self.assertLess(self.channel_snr(1), 10)
        result = self.succeed(*self.options, *warning.group(1).split())
        self.assertNotIn("beside larger ones", result.stderr)
        self.assertGreater(self.channel_snr(1), 20)


class HeldBack(CalibrateTest):
    """Samples that took part in a choice prove nothing."""

    def test_verify_by_those_held_back(self):
        self.make_net()
        report = self.folder / "report.json"
        text = self.succeed(self.model, *self.spec, "--nhwc", "--calibrate", self.data, "--verify", "--report", report,
                            "-o", self.folder / "out.pt").stdout
        self.assertIn("passed (13 samples", text)
        found = json.loads(report.read_text())
        self.assertAlmostEqual(found["calibration"]["segments"][0]["distance"]["snr_db"],
                               found["verification"]["outputs"][0]["snr_db"], 1)

    def test_drop_that_so_few_samples_cannot_prove(self):
        self.make_net()
        result = self.fail_with(1, self.model, *self.spec, "--nhwc", "--calibrate", self.data, "--max-drop", "5%", "-o",
                                self.folder / "out.pt", needed=["--max-drop 5%: 32 results on 32 samples held back can't"])
        self.assertIn("73 results are needed: give 146 samples or more", result.stderr)
        self.fail_with(1, self.model, *self.spec, "--nhwc", "--calibrate", self.data, "--max-drop", "0", "-o",
                       self.folder / "out.pt", needed=["ask for a share above 0"])

    def test_drop_that_the_interval_proves(self):
        self.make_net()
        many = self.samples(list(picture_samples(160, seed=9).unsqueeze(1)), "many.pt")
        options = [self.model, *self.spec, "--nhwc", "--calibrate", many, "-o", self.folder / "out.pt"]
        text = self.succeed(*options, "--max-drop", "15%").stdout
        lowest = float(re.search(r"top-1 [\d.]+% \(([\d.]+) to", text).group(1))
        self.assertGreaterEqual(lowest, 85)


class Targets(CalibrateTest):
    def reached(self, text):
        return float(re.search(r"SNR ([0-9.]+) dB", text).group(1))

    def test_operations_stay_float_until_it_holds(self):
        self.make_net()
        options = [*self.spec, "--nhwc", "--calibrate", self.data, "-o", self.folder / "out.pt"]
        plain = self.succeed(self.model, *options).stdout
        reached = self.reached(plain)
        text = self.succeed(self.model, *options, "--min-snr", reached + 3).stdout
        self.assertIn("left float", text)
        self.assertGreaterEqual(self.reached(text), reached + 3)
        self.assertLess(int(text.split("quantised ")[1].split(" ")[0]), int(plain.split("quantised ")[1].split(" ")[0]))
        self.assertNotIn("left float", self.succeed(self.model, *options, "--min-snr", reached - 3).stdout)
        self.assertNotIn("left float", self.succeed(self.model, *options, "--max-drop", "100%").stdout)

    def test_targets_that_cannot_be_held(self):
        self.make_net()
        options = [*self.spec, "--nhwc", "--calibrate", self.data, "-o", self.folder / "out.pt"]
        self.fail_with(1, self.model, *options, "--min-snr", "200", needed=["--min-snr can't be held"])
        self.fail_with(2, self.model, *options, "--max-drop", "2", needed=["--max-drop"])
        for option in ("--min-snr", "--max-drop", "--mean"):
            for text, found in (("nan", "nan"), ("", "an empty text"), ("1x", "1x")):
                self.fail_with(2, self.model, *options, option, text,
                               needed=[option, f"{found} found, a finite number needed"])
        for option in ("--std", "--pixel-max"):
            self.fail_with(2, self.model, *options, option, "", needed=["an empty text found, a number above 0 needed"])
        self.fail_with(2, self.model, *options, "--quant", "none", needed=["--quant none: it refuses quantised models"])


if __name__ == "__main__":
    unittest.main()
