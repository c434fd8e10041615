# SPDX-License-Identifier: BSD-3-Clause
"""Files in parts that the shim runs without PyTorch: results beside TorchScript's, and what programs can't say."""

import json
import pathlib
import re
import subprocess
import sys
import sysconfig
import unittest
import zipfile
from typing import Dict, List, Tuple

import numpy
import torch
import torchvision
from torch import nn

from cli import HOST, LIBRARIES, ROOT, environment, run
from mobile_models import seeded
from shim_process import SHIM, ShimProcessTest
from stock_torch import images

TORCHVISION = pathlib.Path(torchvision.__file__).with_name(f"_C{sysconfig.get_config_var('EXT_SUFFIX')}")
OP_CASES = LIBRARIES.parent / "bin" / "op_cases"


class Words(nn.Module):
    """Numbers of words, which NNAPI takes in another dtype than forward; how many rows are kept depends on values."""

    def __init__(self):
        super().__init__()
        self.table, self.layer = nn.Embedding(50, 64), nn.Linear(64, 32)

    def forward(self, words: torch.Tensor, least: float = 0.1) -> Tuple[torch.Tensor, List[Dict[str, torch.Tensor]]]:
        rows = torch.relu(self.layer(self.table(words)))
        means = rows.mean(1)
        kept = torch.nonzero(means > means.mean() * least + 0.5 * means.mean()).flatten()
        order = torch.argsort(means[kept], descending=True)
        return rows[kept][order], [{"numbers": kept[order], "sum": rows[kept].sum()}]


def kept_rows(picture: torch.Tensor) -> torch.Tensor:
    """How many there are depends on values."""
    values = picture.mean([2])[0].t()
    return values[torch.nonzero(values[:, 0] > values[:, 0].mean()).flatten()]


class FarPlaces(nn.Module):
    """Reads a picture at places far beyond its borders."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        y = self.layer(x)
        y = y[:, :, :torch.nonzero(y[0, 0, 0] > -99).size(0)]
        print("rows:", y.size(2))  # programs print nothing
        places = (y[:, :2] - 0.3).permute(0, 2, 3, 1)
        return nn.functional.grid_sample(y, places * 1e10, mode="bicubic", padding_mode="border", align_corners=False)


class RepeatedConstant(nn.Module):
    """NNAPI runs all of it, and forward gives a constant twice."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3)
        self.register_buffer("table", torch.arange(4.0))

    def forward(self, x):
        return self.table, self.layer(x), self.table


class Emptied(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        rows = self.layer(x).flatten(2).mean(0).t()
        marks = torch.nonzero(rows[:, 0] > 0)
        return marks.clone().zero_(), marks, rows


class Counter(nn.Module):
    count: int

    def __init__(self):
        super().__init__()
        self.count = 0
        self.layer = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        self.count += 1
        return kept_rows(self.layer(x)), self.count

    @torch.jit.export
    def reset_states(self):
        self.count = 0

    @torch.jit.export
    def spread(self):
        self.count = int(torch.kron(torch.ones([self.count, 2]), torch.ones([1])).sum())


class Classifier(nn.Module):
    """NNAPI runs all of it; small enough for the CPU, too."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> Dict[str, torch.Tensor]:
        features = torch.relu(self.norm(self.conv(x)))
        scores = self.head(features.mean((2, 3)))
        return {"features": features, "scores": torch.softmax(scores, 1), "best": scores.argmax(1)}


class SortedRows(nn.Module):
    """A segment that NNAPI reads in NHWC, a step of the CPU, and another segment."""

    def __init__(self):
        super().__init__()
        self.conv, self.first, self.second = nn.Conv2d(3, 8, 3), nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        picture = torch.relu(self.conv(x))
        rows = torch.relu(self.first(picture.flatten(2)[0].t()))
        kept = torch.nonzero(rows[:, 0] > rows[:, 0].mean()).flatten()[:4]
        return picture, self.second(torch.relu(rows[kept] + 0.1))


class YoloHead(nn.Module):
    """Three scales, decoded on their grids, and the best boxes of each class."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.SiLU())
        self.downs = nn.ModuleList([nn.Conv2d(32, 32, 3, 2, 1) for _ in range(3)])
        self.heads = nn.ModuleList([nn.Conv2d(32, 3 * 9, 1) for _ in range(3)])

    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        features, rows, stride = self.stem(x), torch.jit.annotate(List[torch.Tensor], []), 4
        for down, head in zip(self.downs, self.heads):
            features = torch.relu(down(features))
            stride *= 2
            raw = head(features)
            height, width = raw.shape[2], raw.shape[3]
            raw = raw.view(1, 3, 9, height, width).permute(0, 1, 3, 4, 2)
            ys, xs = torch.meshgrid([torch.arange(height), torch.arange(width)], indexing="ij")
            grid = torch.stack([xs, ys], 2).view(1, 1, height, width, 2).to(raw.dtype)
            centre = (torch.sigmoid(raw[..., :2]) * 2 - 0.5 + grid) * stride
            size = (torch.sigmoid(raw[..., 2:4]) * 2) ** 2 * (4.0 * stride)
            rows.append(torch.cat([centre, size, torch.sigmoid(raw[..., 4:] * 4)], 4).view(-1, 9))
        found = torch.cat(rows)
        scores, classes = (found[:, 5:] * found[:, 4:5]).max(1)
        kept = torch.nonzero(scores > scores.mean()).flatten()
        found, scores, classes = found[kept], scores[kept], classes[kept]
        half = found[:, 2:4] / 2
        boxes = torch.cat([found[:, :2] - half, found[:, :2] + half], 1)
        best = torchvision.ops.nms(boxes + (classes * 4096)[:, None], scores, 0.45)[:100]
        return boxes[best], scores[best], classes[best]


class VoiceDetector(nn.Module):
    """An LSTM whose state stays from chunk to chunk; the beginning of a recording is a branch of its own."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(1, 32, 16, 8), nn.ReLU(), nn.Conv1d(32, 64, 8, 4), nn.ReLU())
        self.cell, self.out = nn.LSTM(64, 64), nn.Linear(64, 1)
        self.hidden, self.state = torch.zeros(0), torch.zeros(0)
        self.chunks: int = 0

    @torch.jit.export
    def reset_states(self):
        self.hidden, self.state, self.chunks = torch.zeros(0), torch.zeros(0), 0

    def forward(self, chunk: torch.Tensor) -> torch.Tensor:
        if self.hidden.numel() == 0:
            self.hidden, self.state = torch.zeros(1, 1, 64), torch.zeros(1, 1, 64)
        rows = self.features(chunk.unsqueeze(1)).permute(2, 0, 1)
        rows, (self.hidden, self.state) = self.cell(rows, (self.hidden, self.state))
        self.chunks += 1
        return torch.sigmoid(self.out(torch.relu(rows[-1])) * 8)


class Programs(ShimProcessTest):
    def words(self, model):
        return self.convert(model, "--input", "words=12:int64", "--runtime", "shim", "--min-segment-macs", "0")

    def test_results_of_sizes_that_depend_on_values(self):
        model = self.script(Words)
        out = self.words(model)
        calls = [{"words": torch.randint(50, [12], generator=torch.Generator().manual_seed(seed))} for seed in range(4)]
        found = self.results(out, calls)
        sizes = set()
        for i, call in enumerate(calls):
            rows, (rest,) = torch.jit.load(str(model))(call["words"])
            sizes.add(len(rows))
            self.assert_same(rows, found[f"{i}/[0]"])
            self.assert_same(rest["numbers"], found[f"{i}/[1][0].numbers"])
            self.assert_same(rest["sum"], found[f"{i}/[1][0].sum"])
        self.assertGreater(len(sizes), 1)

    def test_a_bad_index_is_of_one_call(self):
        """NNAPI refuses it among the first runs, in which a device that fails is given up; other devices fail, too."""
        model = self.script(lambda: nn.Sequential(nn.Embedding(12, 16), nn.Linear(16, 12)))
        out = self.convert(model, "--input", "1:int64", "--runtime", "shim", "--min-segment-macs", "0")
        code = """if True:
            import sys
            sys.path.insert(0, sys.argv[1])
            import numpy
            from shim_call import ShimModel
            model = ShimModel(*sys.argv[2:])
            for index in (3, 12, 3, 12, 3):
                try:
                    print(index, model.call("forward", {"0": numpy.array([index])})[""].std() > 0.01)
                except RuntimeError as error:
                    print(index, error)
            """
        done = subprocess.run([sys.executable, "-c", code, ROOT / "scripts/sweeps", SHIM, out], text=True,
                              env=environment({"LD_LIBRARY_PATH": str(HOST)}), stdout=subprocess.PIPE, check=True)
        lines = done.stdout.splitlines()
        self.assertEqual(["3 True"] * 3, lines[::2])
        for line in lines[1::2]:
            self.assertIn("the execution on the device that NNAPI chose failed", line)

    def test_boxes_of_a_yolo_head(self):
        model = self.script(YoloHead)
        out = self.convert(model, "--input", "1,3,96,128", "--runtime", "shim", "--min-segment-macs", "0",
                           "--torch-library", TORCHVISION)
        calls = [{"x": images(1, 3, 96, 128) * (i + 1)} for i in range(3)]
        found = self.results(out, calls)
        counts = set()
        for i, call in enumerate(calls):
            expected = torch.jit.load(str(model))(call["x"])
            counts.add(len(expected[0]))
            for number, tensor in enumerate(expected):
                self.assert_same(tensor, found[f"{i}/[{number}]"])
        self.assertGreater(max(counts), 3)

    def test_operators_that_are_written_by_others(self):
        """Each has a case, which runs as a program."""
        source = (ROOT / "lib/converter/emit/program_forms.cpp").read_text()
        forms = re.findall(r'\{"(aten::[\w.]+)", ', source)
        self.assertGreater(len(forms), 10)
        done = subprocess.run([str(OP_CASES), "--program", str(ROOT / "testdata/ops")], env=environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        self.assertEqual(0, done.returncode, done.stdout)
        lacking = re.findall(r": (aten::[\w.]+) is not among the operators", done.stdout)
        self.assertGreater(len(lacking), 0)
        self.assertEqual([], sorted(set(forms) & set(lacking)))
        cases = "".join(path.read_text() for path in (ROOT / "testdata/ops").rglob("*.case"))
        self.assertEqual([], [form for form in forms if not re.search(rf"\b{form[6:].split('.')[0]}\b", cases)])

    def test_a_voice_detector_of_100_chunks(self):
        model = self.script(VoiceDetector)
        out = self.convert(model, "--input", "1,512", "--runtime", "shim", "--min-segment-macs", "0")
        generator = torch.Generator().manual_seed(0)
        calls = [{"chunk": torch.randn([1, 512], generator=generator) * (1 + i % 7)} for i in range(101)]
        calls[50] = {}
        found = self.results(out, calls, ("50=reset_states",))
        original, outputs = torch.jit.load(str(model)), []
        for i, call in enumerate(calls):
            if not call:
                original.reset_states()
                continue
            with torch.no_grad():
                outputs.append(original(call["chunk"]))
            numpy.testing.assert_allclose(found[f"{i}/"], outputs[-1].numpy(), rtol=0, atol=1e-4)
        self.assertGreater(float(torch.stack(outputs).std()), 0.01)

    def test_what_a_profile_leaves_to_the_cpu(self):
        torch.manual_seed(0)
        model = self.folder / "model.pt"
        net = torchvision.models.mobilenet_v2(weights=None).eval()
        torch.jit.trace(net, torch.rand(1, 3, 96, 96)).save(str(model))
        profile = ROOT / "schemas/profiles/armnn-1.3.json"
        out = self.convert(model, "--input", "1,3,96,96", "--runtime", "shim", "--device-profile", profile)
        picture = images(1, 3, 96, 96)
        self.assert_same(net(picture), self.results(out, [{"x": picture}])["0/"])

    def test_a_whole_model_has_names(self):
        model = self.script(Classifier)
        out = self.convert(model, "--nhwc", "--input", "1,3,16,24", "--runtime", "shim")
        calls = [{"x": images(1, 3, 16, 24) * (i + 1)} for i in range(2)]
        found = self.results(out, calls)
        for i, call in enumerate(calls):
            for name, expected in torch.jit.load(str(model))(call["x"]).items():
                self.assert_same(expected, found[f"{i}/{name}"])

    def test_without_nnapi_small_segments_run_on_the_cpu(self):
        for make, fallback in ((Classifier, "cpu"), (SortedRows, "partition-cpu")):
            with self.subTest(make=make.__name__):
                model = self.script(make)
                out = self.convert(model, "--nhwc", "--input", "1,3,16,24", "--runtime", "shim", "--fallback", fallback,
                                   "--min-segment-macs", "0")
                picture = images(1, 3, 16, 24)
                on_nnapi = self.results(out, [{"x": picture}])
                on_cpu = self.results(out, [{"x": picture}] * 5, library="/no/such/folder")
                self.assertEqual(sorted(on_nnapi), sorted(name for name in on_cpu if name[0] in "0s"))
                for name, expected in self.leaves(torch.jit.load(str(model))(picture)):
                    for found in (on_nnapi["0/" + name], on_cpu["0/" + name], on_cpu["4/" + name]):
                        self.assert_same(expected, found)

    @staticmethod
    def leaves(result):
        if isinstance(result, dict):
            return list(result.items())
        return [(f"[{i}]", tensor) for i, tensor in enumerate(result)]

    def test_segments_that_only_nnapi_runs_are_told(self):
        out = self.folder / "out.pt"
        done = self.succeed(self.script(Classifier), "--nhwc", "--input", "1,3,512,512", "--runtime", "shim", "--fallback",
                            "cpu", "--no-torchscript", "-o", out)
        self.assertRegex(done.stderr, r"NNAPI fails.*segment 0.*multiply-adds, at most 20000000 needed")
        done = self.shim(out, [{"x": images(1, 3, 512, 512)}], library="/no/such/folder")
        self.assertNotEqual(0, done.returncode)

    def test_verify_without_torch(self):
        for make, sizes, options in ((Classifier, "1,3,16,24", ()), (SortedRows, "1,3,16,24", ("--fallback", "partition-cpu")),
                                     (Words, "words=12:int64", ()), (VoiceDetector, "1,512", ())):
            with self.subTest(make=make.__name__):
                model = self.script(make)
                out = self.convert(model, "--nhwc", "--input", sizes, "--runtime", "shim", "--min-segment-macs", "0", *options)
                done = self.succeed("verify", model, out, "--without-torch")
                self.assertIn("run without PyTorch", done.stdout)
                report = json.loads(self.succeed("verify", model, out, "--without-torch", "--format", "json").stdout)
                self.assertTrue(report["without_torch"])
                self.assertFalse(all(output["is_constant"] for output in report["outputs"]))

    def test_verify_without_torch_tells_what_differs(self):
        model, other = self.script(SortedRows), self.folder / "other.pt"
        net = seeded(SortedRows)
        net.second.bias.data += 0.5
        torch.jit.save(torch.jit.script(net), str(other))
        out = self.convert(model, "--nhwc", "--input", "1,3,16,24", "--runtime", "shim", "--min-segment-macs", "0")
        done = run("verify", other, out, "--without-torch")
        self.assertEqual(4, done.code, f"\n{done}")
        self.assertIn("FAILED", done.stdout)

    def test_verify_without_torch_needs_a_file_for_the_shim(self):
        model = self.script(Classifier)
        out = self.convert(model, "--nhwc", "--input", "1,3,16,24")
        self.fail_with(3, "verify", model, out, "--without-torch", needed=["--runtime shim"])

    def test_a_module_that_quantises_itself(self):
        """Before level 3 NNAPI has no QUANTIZE: the module, and so the program, makes the integers and the floats."""
        model = self.fixture("quant.pt")
        out = self.convert(model, "--nhwc", "--input", "1,3,16,16", "--runtime", "shim", "--quant", "core")
        self.assertIn("aten::round", self.succeed("inspect", out).stdout)
        reports = [json.loads(self.succeed("verify", model, out, "--format", "json", *options).stdout)
                   for options in ((), ("--without-torch",))]
        for of_torch, of_shim in zip(*(report["outputs"] for report in reports)):
            self.assertFalse(of_shim["is_constant"])
            self.assertAlmostEqual(of_torch["max_error"], of_shim["max_error"], delta=1e-5)
        name = torch.jit.load(str(model)).forward.schema.arguments[1].name
        found = self.results(out, [{name: images(1, 3, 16, 16)}])
        self.assertEqual("float32", str(found["0/"].dtype))
        self.assertGreater(len(numpy.unique(found["0/"])), 3)

    def test_a_file_without_torchscript(self):
        for make, options in ((Classifier, ("--fallback", "cpu")), (SortedRows, ()),
                              (Classifier, ("--package", "level=4; level=3"))):
            with self.subTest(make=make.__name__, options=options):
                model = self.script(make)
                command = (model, "--nhwc", "--input", "1,3,16,24", "--runtime", "shim", "--min-segment-macs", "0", *options)
                whole, out = self.convert(*command), self.folder / "small.pt"
                self.succeed(*command, "--no-torchscript", "--verify", "-o", out)
                self.assertLess(out.stat().st_size, whole.stat().st_size)
                with zipfile.ZipFile(out) as archive:
                    self.assertIsNone(archive.testzip())
                    self.assertFalse([name for name in archive.namelist() if "code/" in name or "pkl" in name])
                picture = images(1, 3, 16, 24)
                expected, found = self.results(whole, [{"x": picture}]), self.results(out, [{"x": picture}])
                for name in expected:
                    if name != "seconds":
                        numpy.testing.assert_array_equal(expected[name], found[name])
                self.assertIn("run without PyTorch", self.succeed("verify", model, out).stdout)
                for shown in ("text", "json", "dot", "html"):
                    self.assertTrue(self.succeed("inspect", out, "--format", shown).stdout)
                self.fail_with(2, "verify", model, out, "--per-op", needed=["--no-torchscript"])
                self.fail_with(3, out, "--input", "1,3,16,24", "-o", self.folder / "again.pt", needed=["converted"])

    def test_inspect_shows_the_program(self):
        out = self.convert(self.script(SortedRows), "--nhwc", "--input", "1,3,16,24", "--runtime", "shim",
                           "--min-segment-macs", "0", "--fallback", "partition-cpu")
        text = self.succeed("inspect", out).stdout
        self.assertRegex(text, r"forward\(r0 x: Tensor\) -> Tuple\[Tensor, Tensor\]")
        self.assertRegex(text, r"r\d+ = aten::nonzero\(r\d+\)  # .*programs_test.py:\d+")
        self.assertRegex(text, r"where NNAPI fails, segment 0\(r0 0: Tensor\)")
        self.assertIn("segment 1(", text)
        self.assertIn("aten::nonzero", json.loads(self.succeed("inspect", out, "--format", "json").stdout)["program"])

    def test_default_of_an_argument(self):
        out = self.words(self.script(Words))
        words = torch.arange(12)
        found = self.results(out, [{"words": words, "least": torch.tensor(0.9, dtype=torch.float64)}, {"words": words}])
        self.assertLess(len(found["0/[0]"]), len(found["1/[0]"]))

    def test_unknown_arguments_are_named(self):
        out = self.words(self.script(Words))
        done = self.shim(out, [{"word": torch.arange(12)}])
        self.assertNotEqual(0, done.returncode)
        self.assertIn("word", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_values(self):
        for make in (Emptied, FarPlaces, RepeatedConstant):
            model, out = self.script(make), self.folder / "out.pt"
            self.succeed(model, "--nhwc", "--input", "1,3,16,16", "--runtime", "shim", "--min-segment-macs", "0", "-o", out)
            self.succeed("verify", model, out, "--without-torch")

    def test_methods(self):
        model = self.script(Counter)
        out = self.folder / "out.pt"
        done = self.succeed(model, "--nhwc", "--input", "1,3,32,32", "--runtime", "shim", "--min-segment-macs", "0",
                            "-o", out)
        self.assertRegex(done.stderr, r"lacks a method.*spread\(\): aten::kron")
        picture = {"x": images(1, 3, 32, 32)}
        found = self.results(out, [picture, picture, {}, picture], ("2=reset_states",))
        self.assertEqual([1, 2, 1], [int(found[f"{i}/[1]"]) for i in (0, 1, 3)])
        done = self.shim(out, [picture], ("1=spread",))
        self.assertNotEqual(0, done.returncode)
        self.assertIn("reset_states", done.stderr)


if __name__ == "__main__":
    unittest.main()
