# SPDX-License-Identifier: BSD-3-Clause
"""Every command of README's table runs as it is printed, and what it converts passes verification."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

import torch
from torch import nn

from calibrate_models import picture_samples, write_png
from cli import HOST, PROGRAM, ROOT, CliTest, Result, environment

BENCH, PROBE = (pathlib.Path(PROGRAM).with_name(name) for name in ("nnapi-bench", "nnapi-probe"))
TIMEOUT = 300


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


def commands():
    """The commands of the table, in its order; a cell may have several."""
    text = (ROOT / "README.md").read_text()
    table = text[text.index("| You want to | Command | Page |"):].split("\n\n")[0]
    cells = [line.split("|")[2] for line in table.splitlines()[2:]]
    return [command for cell in cells for command in re.findall(r"`(nnapi-[^`]*)`", cell)]


class Table(CliTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        torch.jit.trace(Net().eval(), torch.rand(1, 3, 32, 32)).save(str(self.folder / "model.pt"))
        torch.jit.script(Coder().eval()).save(str(self.folder / "autoencoder.pt"))
        (self.folder / "names.txt").write_text("".join(f"class {i}\n" for i in range(10)))
        for folder in ("pictures", "models"):
            (self.folder / folder).mkdir()
        (self.folder / "models" / "net.pt").write_bytes((self.folder / "model.pt").read_bytes())
        shades = ((picture_samples(40, size=40, seed=4) / 4 + 0.5).clamp(0, 1) * 255).to(torch.uint8)
        for i, picture in enumerate(shades.permute(0, 2, 3, 1).numpy()):
            write_png(self.folder / "pictures" / f"{i:03}.png", picture)

    def phone(self):
        """The environment in which one phone is attached: this machine, with the host's NNAPI."""
        for folder in ("bin", "phones/phone"):
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests/tools/stand_in_adb.py", self.folder / "bin/adb")
        shutil.copy(PROBE, self.folder / "nnapi-probe")
        return environment({"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(HOST),
                            "STAND_IN_ADB": str(self.folder / "phones")})

    def run_as_printed(self, command):
        words = shlex.split(command)
        program = str(PROGRAM if words[0] == "nnapi-convert" else BENCH)
        settings = self.phone() if words[1] == "phone" else environment()
        done = subprocess.run([program, *words[1:]], cwd=self.folder, env=settings, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
        result = Result(words, done.returncode, done.stdout, done.stderr)
        self.assertEqual(0, result.code, f"\n{result}")
        return result

    def test_all(self):
        found = commands()
        self.assertGreater(len(found), 8)
        for command in found:
            if command.startswith("nnapi-bench") and not BENCH.exists():
                continue
            with self.subTest(command=command):
                self.assertNotIn("...", command)
                result = self.run_as_printed(command)
                words = shlex.split(command)
                if "--package" in words:
                    self.assertNotIn("is the same as", result.stderr)
                if "out.pt" in words and words[1] != "verify" and words[0] == "nnapi-convert":
                    model = next(word for word in words if word.endswith(".pt"))
                    self.run_as_printed(f"nnapi-convert verify {model} out.pt")


if __name__ == "__main__":
    unittest.main()
