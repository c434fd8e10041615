"""Files in parts that the shim runs without PyTorch: results beside TorchScript's, and what programs can't say."""

import pathlib
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

from cli import HOST, LIBRARIES, ROOT, CliTest, environment
from mobile_models import seeded
from stock_torch import images

TORCHVISION = pathlib.Path(torchvision.__file__).with_name(f"_C{sysconfig.get_config_var('EXT_SUFFIX')}")
SHIM = LIBRARIES / "libnnapi_shim.so"


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


class Distances(nn.Module):
    """cdist() is no operator of programs, as rot90() is none."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        rows = kept_rows(self.layer(x))
        return torch.cdist(rows, rows)


class DistancesInBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        rows = kept_rows(self.layer(x))
        if int(rows.sum()) > 1000000:
            rows = torch.cdist(rows, rows)
        return rows


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
        self.count = int(torch.rot90(torch.ones([self.count, 2])).sum())


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


class Programs(CliTest):
    def script(self, make):
        path = self.folder / "model.pt"
        torch.jit.save(torch.jit.script(seeded(make)), str(path))
        return path

    def words(self, model):
        return self.convert(model, "--input", "words=12:int64", "--runtime", "shim", "--min-segment-macs", "0")

    def shim(self, path, calls: List[dict], methods: Tuple[str, ...] = ()) -> subprocess.CompletedProcess:
        """Runs calls in a process without PyTorch."""
        arrays = {f"{i}/{name}": value.numpy() for i, call in enumerate(calls) for name, value in call.items()}
        numpy.savez(self.folder / "calls.npz", **arrays)
        command = [sys.executable, ROOT / "scripts/shim_call.py", SHIM, path, self.folder / "calls.npz",
                   self.folder / "results.npz", *methods]
        return subprocess.run(list(map(str, command)), env=environment({"LD_LIBRARY_PATH": str(HOST)}), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)

    def results(self, path, calls: List[dict], methods: Tuple[str, ...] = ()) -> Dict[str, numpy.ndarray]:
        done = self.shim(path, calls, methods)
        self.assertEqual(0, done.returncode, done.stderr)
        return dict(numpy.load(self.folder / "results.npz"))

    def assert_same(self, expected: torch.Tensor, found: numpy.ndarray):
        expected = expected.detach().numpy()
        self.assertEqual((expected.shape, expected.dtype), (found.shape, found.dtype))
        self.assertGreater(expected.size, 0)
        numpy.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * (expected.max() - expected.min() or 1))

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
        name = "x" if "program" in self.index_of(out) else "0"
        found = self.results(out, [{name: picture}])
        self.assert_same(net(picture), found["0/" if "0/" in found else "0/0"])

    def index_of(self, path) -> str:
        with zipfile.ZipFile(path) as archive:
            return next(archive.read(name).decode() for name in archive.namelist() if name.endswith("nnapi_shim.index"))

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

    def test_an_operator_that_programs_lack(self):
        done = self.succeed(self.script(Distances), "--nhwc", "--input", "1,3,32,32", "--runtime", "shim",
                            "--min-segment-macs", "0", "-o", self.folder / "out.pt")
        self.assertIn("needs PyTorch on the phone", done.stderr)
        self.assertIn("aten::cdist", done.stderr)
        self.assertIn("programs_test.py", done.stderr)
        done = self.shim(self.folder / "out.pt", [{"x": images(1, 3, 32, 32)}])
        self.assertNotEqual(0, done.returncode)
        self.assertNotIn("Traceback", done.stderr)

    def test_an_operator_that_programs_lack_in_a_branch(self):
        model = self.script(DistancesInBranch)
        out = self.folder / "out.pt"
        done = self.succeed(model, "--nhwc", "--input", "1,3,32,32", "--runtime", "shim", "--min-segment-macs", "0",
                            "-o", out)
        self.assertIn("a branch of the file raises an error", done.stderr)
        picture = images(1, 3, 32, 32)
        self.assert_same(torch.jit.load(str(model))(picture), self.results(out, [{"x": picture}])["0/"])
        layer = torch.jit.load(str(model)).layer
        sign = torch.sign(layer.weight.sum()).detach()
        done = self.shim(out, [{"x": torch.full([1, 3, 32, 32], 1e9) * sign + picture * 1e8}])
        self.assertNotEqual(0, done.returncode)
        self.assertIn("this branch needs PyTorch", done.stderr)

    def test_methods(self):
        model = self.script(Counter)
        out = self.folder / "out.pt"
        done = self.succeed(model, "--nhwc", "--input", "1,3,32,32", "--runtime", "shim", "--min-segment-macs", "0",
                            "-o", out)
        self.assertRegex(done.stderr, r"lacks a method.*spread\(\): aten::rot90")
        picture = {"x": images(1, 3, 32, 32)}
        found = self.results(out, [picture, picture, {}, picture], ("2=reset_states",))
        self.assertEqual([1, 2, 1], [int(found[f"{i}/[1]"]) for i in (0, 1, 3)])
        done = self.shim(out, [picture], ("1=spread",))
        self.assertNotEqual(0, done.returncode)
        self.assertIn("reset_states", done.stderr)


if __name__ == "__main__":
    unittest.main()
