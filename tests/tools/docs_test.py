# SPDX-License-Identifier: BSD-3-Clause
"""Each command of docs/ runs as it is printed, in a folder that has what its page speaks of. pipelines_test.py runs those of
docs/pipelines.md."""

import json
import shutil
import unittest
from typing import Dict, List

import numpy
import torch
from torch import nn

from calibrate_models import picture_samples, write_png
from cli import FIXTURES, ROOT, CliTest
from documented import Workplace, commands_of
from readme_test import Coder, Net

LITERT = ROOT / "build/litert"
PSNR = """import pathlib, sys
import numpy
samples = sorted(pathlib.Path(sys.argv[1]).glob("result/sample_*.npy"))
print(sum(float(numpy.abs(numpy.load(path)).max()) for path in samples) / len(samples))
"""


class Detector(nn.Module):
    """Takes a list of pictures, as torchvision's detectors do."""

    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, images: List[torch.Tensor]):
        return [self.net(image.unsqueeze(0)) for image in images]


class Boxes(nn.Module):
    """Finds one box of each of three kinds: [1, 3, 6]."""

    def __init__(self):
        super().__init__()
        self.body, self.box, self.kind = Net().body, nn.Linear(32, 12), nn.Linear(32, 3)
        self.register_buffer("labels", torch.arange(3).float().view(3, 1))

    def forward(self, x):
        features = self.body(x).flatten(1)
        return torch.cat((self.box(features).view(3, 4) * 100, torch.sigmoid(self.kind(features)).view(3, 1), self.labels),
                         1).unsqueeze(0)


class Levels(nn.Module):
    """Takes features by their names, and a state."""

    def __init__(self):
        super().__init__()
        self.low, self.high, self.of_state = nn.Conv2d(8, 4, 3), nn.Conv2d(8, 4, 3), nn.Linear(16, 4)

    def forward(self, features: Dict[str, torch.Tensor], state: List[torch.Tensor]):
        low, high = self.low(features["low"]).mean((2, 3)), self.high(features["high"]).mean((2, 3))
        return low + high + self.of_state(state[0])


class DocsTest(CliTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.work = Workplace(self.folder)
        self.trace(Net(), "model.pt", 224)
        for name in ("mobilenet_v2.pt", "NET.pt"):
            shutil.copy(self.folder / "model.pt", self.folder / name)
        for name in ("names.txt", "imagenet.txt"):
            (self.folder / name).write_text("".join(f"class {i}\n" for i in range(10)))
        (self.folder / "pictures").mkdir()
        (self.folder / "app").mkdir()
        shades = ((picture_samples(40, size=64, seed=4) / 4 + 0.5).clamp(0, 1) * 255).to(torch.uint8)
        for i, picture in enumerate(shades.permute(0, 2, 3, 1).numpy()):
            write_png(self.folder / "pictures" / f"{i:03}.png", picture)

    def trace(self, module, name, size):
        torch.jit.trace(module.eval(), torch.rand(1, 3, size, size)).save(str(self.folder / name))

    def fixture_as(self, name, target):
        shutil.copy(FIXTURES / name, self.folder / target)

    def make_out(self, *options, model="model.pt"):
        self.succeed(self.folder / model, "--nhwc", "--runtime", "shim", *options, "-o", self.folder / "out.pt")

    def without_placeholders(self, command):
        if "doctor/NAME.profile.json" in command:
            command = command.replace("doctor/NAME.profile.json",
                                      str(next((self.folder / "doctor").glob("*.profile.json"))))
        return command.replace("LEVEL", "4").replace("=FOLDER", f"={LITERT}").replace("--cache DIR", "--cache .")

    def page(self, name, least):
        """Runs the commands of a page; there are so many at least."""
        found = commands_of((ROOT / "docs" / name).read_text())
        self.assertGreaterEqual(len(found), least, found)
        for command in found:
            needs_litert = "verify model.pt out.tflite" in command
            if not self.work.has(command) or needs_litert and not (LITERT / "node_modules").is_dir():
                continue
            with self.subTest(command=command):
                if "--doctor doctor.json" in command:
                    self.assertEqual(0, self.work.run("nnapi-probe --doctor out.pt --all --json doctor.json").returncode)
                if "shim --emit" in command:  # the page has several ways to make one folder
                    shutil.rmtree(self.folder / command.split()[3], ignore_errors=True)
                done = self.work.run(self.without_placeholders(command))
                self.assertEqual(0, done.returncode, f"\n{command}\n{done.stdout}\n{done.stderr}")


class Converting(DocsTest):
    def test_check(self):
        self.page("check.md", 1)

    def test_converting(self):
        shutil.copy(next((ROOT / "testdata/exported/2.8").glob("*.pt2")), self.folder / "model.pt2")
        self.page("converting.md", 3)

    def test_methods(self):
        torch.jit.script(Coder().eval()).save(str(self.folder / "coder.pt"))
        self.page("methods.md", 1)

    def test_partition(self):
        torch.jit.script(Detector().eval()).save(str(self.folder / "detector.pt"))
        torch.jit.script(Levels().eval()).save(str(self.folder / "levels.pt"))
        self.page("partition.md", 3)

    def test_pictures(self):
        self.page("pictures.md", 1)

    def test_report(self):
        self.page("report.md", 4)

    def test_verifying(self):
        self.fixture_as("quant.pt", "quantised.pt")
        self.fixture_as("quant_float.pt", "float.pt")
        self.make_out("--quant", "full", model="quantised.pt")
        self.page("verifying.md", 1)


class Apps(DocsTest):
    def test_android(self):
        self.page("android.md", 3)

    def test_litert(self):
        self.page("litert.md", 5)

    def test_shim(self):
        self.make_out("--input", "1,3,224,224")
        shutil.copy(self.folder / "out.pt", self.folder / "other.pt")
        self.page("shim.md", 20)


class OnThePhone(DocsTest):
    def test_doctor(self):
        self.make_out("--input", "1,3,224,224")
        self.page("doctor.md", 8)

    def test_measuring(self):
        self.make_out("--input", "1,3,224,224")
        self.page("measuring.md", 8)


class Quantising(DocsTest):
    def test_quantising(self):
        self.trace(Boxes(), "detector.pt", 320)
        torch.save(list(picture_samples(20, size=224).unsqueeze(1)), self.folder / "samples.pt")
        numpy.save(self.folder / "samples.npy", numpy.random.default_rng(0).random((20, 3, 64, 64), numpy.float32))
        (self.folder / "psnr.py").write_text(PSNR)
        names = [path.name for path in sorted((self.folder / "pictures").iterdir())]
        (self.folder / "instances.json").write_text(json.dumps({
            "images": [{"id": i, "file_name": name} for i, name in enumerate(names)],
            "annotations": [{"image_id": i, "category_id": i % 3, "bbox": [4, 4, 32, 32]} for i in range(len(names))],
            "categories": [{"id": i, "name": str(i)} for i in range(3)]}))
        self.page("quantising.md", 7)


class All(unittest.TestCase):
    def test_all_pages_are_here(self):
        """A page that gets its first command gets a test."""
        named = {name.removeprefix("test_") for each in DocsTest.__subclasses__() for name in dir(each)}
        for page in sorted((ROOT / "docs").glob("*.md")):
            found = commands_of(page.read_text())
            if page.name != "pipelines.md" and found:
                self.assertIn(page.stem.replace("-", "_"), named, found)


if __name__ == "__main__":
    unittest.main()
