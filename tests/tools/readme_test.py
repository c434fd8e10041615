# SPDX-License-Identifier: BSD-3-Clause
"""Every command of README runs as it is printed, and what it converts passes verification: on a small network, and on trained
ones where ../shared/models has them."""

import lzma
import re
import shlex
import shutil
import subprocess
import sys
import unittest

import torch
from torch import nn

from calibrate_models import picture_samples, write_png
from cli import ROOT, CliTest, environment
from documented import Workplace, commands_of

README = (ROOT / "README.md").read_text()
TRAINED = ROOT.parent / "shared/models"
QUANTISED = TRAINED / "old/mobilenet_v2_quantised_2020.pt"
HEADLINE = commands_of(README)[0]


class Net(nn.Module):
    """Takes pictures of any size, as networks of pictures do."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU6(),
                                  nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.ReLU6(), nn.Conv2d(16, 32, 1),
                                  nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x: torch.Tensor):
        return self.decode(self.encode(x))

    @torch.jit.export
    def encode(self, x: torch.Tensor):
        return torch.relu(self.down(x))

    @torch.jit.export
    def decode(self, code: torch.Tensor):
        return torch.tanh(self.up(code))


class ReadmeTest(CliTest):
    def setUp(self):
        super().setUp()
        self.work = Workplace(self.folder)
        torch.manual_seed(0)
        torch.jit.script(Coder().eval()).save(str(self.folder / "autoencoder.pt"))
        for folder in ("pictures", "models"):
            (self.folder / folder).mkdir()

    def run_as_printed(self, command):
        done = self.work.run(command)
        self.assertEqual(0, done.returncode, f"\n{command}\n{done.stdout}\n{done.stderr}")
        return done

    def check_all(self):
        found = commands_of(README)
        self.assertGreater(len(found), 12)
        for command in found:
            if not self.work.has(command):
                continue
            with self.subTest(command=command):
                self.assertNotIn("...", command)
                done = self.run_as_printed(command)
                words = shlex.split(command)
                if "--package" in words:
                    self.assertNotIn("is the same as", done.stderr)
                if "out.pt" in words and words[1] != "verify" and words[0] == "nnapi-convert":
                    model = next(word for word in words if word.endswith(".pt"))
                    self.run_as_printed(f"nnapi-convert verify {model} out.pt")


class Table(ReadmeTest):
    def test_all(self):
        torch.jit.trace(Net().eval(), torch.rand(1, 3, 32, 32)).save(str(self.folder / "model.pt"))
        shutil.copy(self.folder / "model.pt", self.folder / "models/net.pt")
        (self.folder / "names.txt").write_text("".join(f"class {i}\n" for i in range(10)))
        shades = ((picture_samples(40, size=40, seed=4) / 4 + 0.5).clamp(0, 1) * 255).to(torch.uint8)
        for i, picture in enumerate(shades.permute(0, 2, 3, 1).numpy()):
            write_png(self.folder / "pictures" / f"{i:03}.png", picture)
        self.check_all()


@unittest.skipUnless(TRAINED.is_dir(), "no trained networks beside the project")
class Trained(ReadmeTest):
    PICTURES = 6  # enough to run; quantising.md measures how good it gets

    def test_all(self):
        network = lzma.decompress((TRAINED / "mobilenet_v2_imagenet.pt.xz").read_bytes())
        for name in ("model.pt", "models/net.pt"):
            (self.folder / name).write_bytes(network)
        (self.folder / "names.txt").write_text("".join(f"class {i}\n" for i in range(1000)))
        for picture in sorted((TRAINED / "pictures").glob("*.jpg"))[::100 // self.PICTURES][: self.PICTURES]:
            shutil.copy(picture, self.folder / "pictures")
        self.check_all()

    def test_headline_of_a_quantised_network(self):
        shutil.copy(QUANTISED, self.folder / "model.pt")
        self.assertIn("passed (", self.run_as_printed(HEADLINE).stdout)


class ThirtySeconds(ReadmeTest):
    def test_from_python_to_a_verified_file(self):
        code = re.search(r"```python\n(.*?)```", README, re.S)[1]
        subprocess.run([sys.executable, "-c", code], cwd=self.folder, env=environment(), check=True, timeout=300,
                       stderr=subprocess.DEVNULL)
        printed = re.search(r"```console\n\$ (.*)\n(?:.*\n)*?(passed \(.*)\n(out\.pt: .* on NNAPI)", README)
        self.assertEqual(HEADLINE, printed[1])
        done = self.run_as_printed(printed[1])
        self.assertIn(printed[2], done.stdout)
        self.assertIn(printed[3], done.stdout)


if __name__ == "__main__":
    unittest.main()
