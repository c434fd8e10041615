"""Float models that the command quantises by data: results on stock PyTorch and the host's NNAPI, interfaces, what is
read, and what is refused."""

import json
import re
import signal
import struct
import subprocess
import time
import unittest
import zipfile
import zlib
from typing import List, Tuple

import jsonschema
import numpy
import torch
from torch import nn

from cli import ROOT, CliTest, PROGRAM, environment, run
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

    def test_verify(self):
        for runtime in ([], SHIM):
            out = self.convert(self.model, *self.spec, "--nhwc", "--calibrate", self.data, *runtime, "--verify")
            text = self.succeed("verify", self.model, out, "--inputs", self.data).stdout
            self.assertIn("calibration measured", text)
            self.succeed("verify", self.model, out)
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
        for options in ([], SHIM, ["--quant", "core"], [*SHIM, "--quant", "core"]):
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


class Data(CalibrateTest):
    def setUp(self):
        super().setUp()
        self.make_net()
        self.options = [*self.spec, "--nhwc", "--calibrate"]

    def same_file(self, source):
        """What the list of tensors gives."""
        expected = self.convert(self.model, *self.options, self.data, out="expected.pt")
        found = self.convert(self.model, *self.options, source, out="found.pt")
        return load(expected).ser_model.equal(load(found).ser_model)

    def test_numpy(self):
        numpy.save(self.folder / "data.npy", self.pictures[:64].numpy())
        self.assertTrue(self.same_file(self.folder / "data.npy"))
        numpy.save(self.folder / "double.npy", self.pictures[:64].double().numpy())
        self.assertTrue(self.same_file(self.folder / "double.npy"))
        for save in (numpy.savez, numpy.savez_compressed):
            save(self.folder / "data.npz", x=self.pictures[:64].numpy())
            self.assertTrue(self.same_file(self.folder / "data.npz"))

    def test_one_tensor(self):
        self.assertTrue(self.same_file(self.samples(self.pictures[:64], "one.pt")))

    def test_lists_that_python_appends_to(self):
        """Python writes the last element of a list by itself where it begins a group of 1000."""
        for count in (1, 1001):
            with self.subTest(count=count):
                data = self.samples(list(self.pictures[:1].expand(count, -1, -1, -1).unsqueeze(1)), "appended.pt")
                out = self.convert(self.model, *self.options, data)
                self.succeed("verify", self.model, out, "--inputs", data)
        floats = self.convert(self.model, *self.spec, "--nhwc", out="float.pt")
        self.succeed("verify", self.model, floats, "--inputs", self.samples([(self.pictures[:1],)], "tuples.pt"))
        self.succeed("verify", self.model, floats, "--inputs",
                     self.samples([(picture,) for picture in self.pictures[:1].expand(1001, -1, -1, -1).unsqueeze(1)],
                                  "tuples.pt"))

    def warnings(self, samples):
        data = self.samples(samples, "warned.pt")
        return self.succeed(self.model, *self.options, data, "-o", self.folder / "out.pt").stderr

    def test_few_samples(self):
        self.assertIn("1 sample found: too few to hold some back", self.warnings([self.pictures[:1]]))
        self.assertIn("10 samples found; 32 or more", self.warnings(list(self.pictures[:10].unsqueeze(1))))

    def test_black_samples(self):
        text = self.warnings(list(torch.zeros(40, 1, 3, 16, 16)))
        self.assertIn("input 0 is 0 everywhere in all samples", text)

    def test_a_channel_that_is_never_active(self):
        pictures = self.pictures[:40].clone()
        pictures[:, 1] = 0.5
        text = self.warnings(list(pictures.unsqueeze(1)))
        self.assertIn("1 of 3 channels hold one value in all samples, the first is channel 1", text)

    def test_thousands_of_samples(self):
        numpy.save(self.folder / "many.npy", self.pictures[:64].repeat(40, 1, 1, 1).numpy())
        result = self.succeed(self.model, *self.options, self.folder / "many.npy", "-o", self.folder / "out.pt")
        self.assertIn("1000 of 2560 samples are used", result.stderr)

    def test_interrupted(self):
        """Nothing is left, neither the file nor what was beside it."""
        before = sorted(self.folder.iterdir())
        process = subprocess.Popen([PROGRAM, *map(str, [self.model, *self.options, "random:3000", "--effort", "best",
                                                        "-o", self.folder / "out.pt"])], env=environment(),
                                   stderr=subprocess.DEVNULL)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.assertNotEqual(0, process.wait(60))
        self.assertEqual(before, sorted(self.folder.iterdir()))

    def test_several_inputs(self):
        x, indices = torch.randn(40, 1, 6), torch.arange(40).remainder(20).view(40, 1)
        model = self.trace(TwoInputs(), x[0], indices[0])
        specs = ["--input", "1,6", "--input", "1:int64"]
        pairs = self.samples(list(zip(x, indices)), "pairs.pt")
        out = self.convert(model, *specs, "--calibrate", pairs)
        self.succeed("verify", model, out, "--inputs", pairs)
        numpy.savez(self.folder / "pairs.npz", indices=indices.view(-1).numpy(), x=x.view(40, 6).numpy())
        self.convert(model, *specs, "--calibrate", self.folder / "pairs.npz")

    def test_random_warns(self):
        result = self.succeed(self.model, *self.options, "random:16", "-o", self.folder / "out.pt")
        self.assertIn("random numbers", result.stderr)

    def test_bad_data(self):
        out = self.folder / "out.pt"
        nan = self.pictures[:8].clone()
        nan[3, 0, 0, 0] = float("nan")
        torch.save({"a": 1}, str(self.folder / "dict.pt"))
        (self.folder / "text.npy").write_text("no array")
        (self.folder / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, "
                                              b"'shape': (64, 3, 16, 16), }" + b" " * 50)
        empty = self.folder / "empty"
        empty.mkdir()
        cases = [
            (self.samples(list(nan.unsqueeze(1)), "nan.pt"), 3, "NaN"),
            (self.samples([torch.zeros(1, 3, 8, 8)], "size.pt"), 3, "shape [1, 3, 8, 8] found"),
            (self.samples([], "none.pt"), 3, "no sample found"),
            (self.folder / "dict.pt", 3, "no samples"),
            (self.folder / "text.npy", 3, "no NumPy array"),
            (self.folder / "cut.npy", 3, "cut short"),
            (self.folder / "missing.pt", 3, "can't read"),
            (empty, 3, "no picture found"),
            ("random:0", 2, "random:N"),
            ("bundled", 3, "no bundled inputs"),
        ]
        for source, code, message in cases:
            with self.subTest(source=str(source)):
                self.fail_with(code, self.model, *self.options, source, "-o", out, needed=[message])
                self.assertFalse(out.exists())

    def test_odd_data_is_warned_of(self):
        out = self.folder / "out.pt"
        result = self.succeed(self.model, *self.options, self.samples(list(torch.zeros(40, 1, 3, 16, 16)), "black.pt"),
                              "-o", out)
        self.assertIn("input 0 is 0 everywhere", result.stderr)
        result = self.succeed(self.model, *self.options, self.samples([self.pictures[:1]], "single.pt"), "-o", out)
        self.assertIn("1 sample found", result.stderr)

    def test_options_without_data(self):
        self.fail_with(2, self.model, *self.spec, "--mean", "0.5", "-o", self.folder / "out.pt",
                       needed=["--mean", "--calibrate is missing"])
        self.fail_with(2, self.model, *self.options, self.data, "--crop", "8", "-o", self.folder / "out.pt",
                       needed=["are for pictures"])

    def test_models_that_are_quantised_already(self):
        result = self.fail_with(2, self.fixture("quant.pt"), "--input", "1,3,16,16", "--nhwc", "--calibrate", "random:8",
                                "-o", self.folder / "out.pt", needed=["quantised already"])
        self.assertIn("--calibrate", result.stderr)


class Pictures(CalibrateTest):
    NORM = ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]

    def setUp(self):
        super().setUp()
        self.make_net()
        self.list = []
        folder = self.folder / "pictures"
        folder.mkdir()
        pixels = ((picture_samples(40, seed=4) / 4 + 0.5).clamp(0, 1) * 255).to(torch.uint8)
        for i, picture in enumerate(pixels.permute(0, 2, 3, 1).numpy()):
            write_png(folder / f"{i:03}.png", picture)
        self.pixels = pixels.float() / 255

    def convert_from(self, source, *options, out):
        return load(self.convert(self.model, *self.spec, "--nhwc", "--calibrate", source, *options, out=out)).ser_model

    def test_as_tensors(self):
        mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
        std = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)
        found = self.convert_from(self.folder / "pictures", *self.NORM, out="a.pt")
        tensors = self.samples(list(((self.pixels - mean) / std).unsqueeze(1)), "tensors.pt")
        self.assertTrue(found.equal(self.convert_from(tensors, out="b.pt")))

    def test_inspect_tells_of_the_pictures(self):
        self.convert_from(self.folder / "pictures", *self.NORM, "--resize", "20", "--crop", "16", "--bgr", out="a.pt")
        text = self.succeed("inspect", self.folder / "a.pt").stdout
        self.assertIn("on samples held back; pictures, the shorter side made 20 pixels, the middle 16 pixels taken, 0 to "
                      "1, mean 0.485,0.456,0.406, std 0.229,0.224,0.225, BGR", text)

    def test_bgr_and_range_of_pixels(self):
        found = self.convert_from(self.folder / "pictures", "--bgr", "--pixel-max", "255", "--mean", "127", "--std", "128",
                                  out="a.pt")
        tensors = self.samples(list(((self.pixels * 255 - 127) / 128).flip(1).unsqueeze(1)), "tensors.pt")
        self.assertTrue(found.equal(self.convert_from(tensors, out="b.pt")))

    def test_list(self):
        lines = [f"pictures/{i:03}.png" for i in range(40)]
        (self.folder / "list.txt").write_text("\n".join(lines) + "\n")
        self.assertTrue(self.convert_from(self.folder / "pictures", out="a.pt").equal(
            self.convert_from(self.folder / "list.txt", out="b.pt")))

    def test_unreadable_among_good_ones(self):
        (self.folder / "pictures" / "bad.jpg").write_bytes(b"\xff\xd8\xff no picture")
        whole = (self.folder / "pictures" / "000.png").read_bytes()
        (self.folder / "pictures" / "cut.png").write_bytes(whole[:200])
        result = self.succeed(self.model, *self.spec, "--nhwc", "--calibrate", self.folder / "pictures", "-o",
                              self.folder / "out.pt")
        self.assertIn("2 of 42 pictures can't be read", result.stderr)

    def test_sizes(self):
        out = self.folder / "out.pt"
        options = [*self.spec, "--nhwc", "--calibrate", self.folder / "pictures", "-o", out]
        self.succeed(self.model, *options, "--resize", "20", "--crop", "16")
        self.succeed("verify", self.model, out, "--inputs", self.folder / "pictures")
        self.fail_with(3, self.model, *options, "--resize", "20", needed=["20x20 pixels found"])
        self.fail_with(3, self.model, *options, "--crop", "17", needed=["use --resize"])
        self.fail_with(2, self.model, *options, "--mean", "1,2", needed=["--mean: 2 numbers found"])


if __name__ == "__main__":
    unittest.main()
