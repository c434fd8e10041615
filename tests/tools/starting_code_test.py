# SPDX-License-Identifier: BSD-3-Clause
"""--emit-python and --emit-kotlin: code that runs and checks the very file; and verify --results, which it reads."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, List

import numpy
import torch
from torch import nn

from cli import PROGRAM, ROOT, CliTest, environment
from method_models import Coder
from mobile_models import seeded
from starting_models import Classes
from stock_torch import call, load, tensors

sys.path.insert(0, str(ROOT / "scripts/generate"))
import make_python_module  # noqa: E402

PICTURES = ("--resize", "40", "--crop", "32", "--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225")
CODER = ("--method", "encode", "--method", "decode", "--input", "encode.x=2,64", "--input", "code=2,64", "--input",
         "strength=1.5")


class Found(nn.Module):
    """NNAPI runs the layer; which rows are kept depends on values."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, batch: Dict[str, torch.Tensor], rows: List[torch.Tensor]) -> Dict[str, torch.Tensor]:
        values = self.layer(batch["a value"]) + rows[0]
        kept = torch.nonzero(values[:, 0] > values[:, 0].mean()).flatten()
        return {"values": values[kept], "numbers": kept}


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(20, 8), nn.Linear(8, 3)

    def forward(self, val, mask):
        return self.head(self.table(val) * mask.unsqueeze(-1))


class StartingCode(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        place = tempfile.TemporaryDirectory(prefix="nnapi-convert-test-")
        cls.addClassCleanup(place.cleanup)
        cls.module = place.name
        make_python_module.make_module(PROGRAM, pathlib.Path(place.name))

    def save(self, model, *example, name="model.pt"):
        path = self.folder / name
        made = seeded(model).eval()
        (torch.jit.trace(made, example) if example else torch.jit.script(made)).save(str(path))
        return path

    def emit(self, source, *options, out="out.pt"):
        self.succeed(source, *options, "-o", self.folder / out, "--emit-python", self.folder / "run.py")
        return self.folder / "run.py"

    def run_script(self, script, *arguments):
        return subprocess.run(["/usr/bin/python3", "-W", "ignore", script, *map(str, arguments)], capture_output=True, text=True,
                              timeout=300, cwd="/",
                              env={**environment(), "PYTHONPATH": self.module, "NNAPI_CONVERT_PROGRAM": str(PROGRAM)})

    def agree(self, script, *arguments):
        done = self.run_script(script, *arguments)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn("<Verification: passed", done.stdout)
        shown = dict(line.split(": ", 1) for line in done.stdout.splitlines()[:-1])
        self.assertGreater(len(shown), 0)
        self.assertEqual(len(shown), 2 * sum("/original/" in name for name in shown))
        return shown

    def labels(self):
        (self.folder / "names.txt").write_text("cat\ndög\nfox\n", encoding="utf-8")
        return "--labels", str(self.folder / "names.txt")

    def test_pictures_and_names(self):
        source = self.save(Classes, torch.rand(1, 3, 32, 32))
        script = self.emit(source, "--nhwc", "--input", "1,3,32,32", "--runtime", "shim", *PICTURES, *self.labels())
        shown = self.agree(script)
        self.assertEqual({"0/original/0", "0/converted/0"}, {name for name in shown if name.startswith("0/")})
        self.assertRegex(shown["0/original/0"], "(cat|dög|fox) -?[0-9.]+, ")
        folder = self.folder / "pictures"
        folder.mkdir()
        from shim_library import write_png
        random = numpy.random.default_rng(3)
        for i in range(3):
            write_png(folder / f"{i}.png", random.integers(0, 256, (48, 60, 3), dtype=numpy.uint8))
        of_pictures = self.agree(script, folder)
        self.assertEqual(6, len(of_pictures))
        self.assertEqual(3, len({text for name, text in of_pictures.items() if "original" in name}), "they vary")

    def test_both_runtimes_parts_and_arguments_of_all_kinds(self):
        words = self.save(Words, torch.zeros(2, 5, dtype=torch.long), torch.ones(2, 5), name="words.pt")
        found = self.save(Found, name="found.pt")
        dictionary = ("--input", 'batch["a value"]=6,8', "--input", "rows[0]=6,8", "--min-segment-macs", "0")
        for runtime in ("pytorch", "shim"):
            with self.subTest(runtime):
                self.agree(self.emit(words, "--input", "2,5:int64", "--input", "2,5", "--runtime", runtime))
                shown = self.agree(self.emit(found, *dictionary, "--runtime", runtime))
                self.assertEqual(4, sum(name.startswith("0/") for name in shown))
                self.agree(self.emit(words, "--input", "2,?:int64", "--input", "2,?", "--runtime", runtime))

    def test_methods(self):
        source = self.save(Coder)
        for runtime in ("pytorch", "shim"):
            shown = self.agree(self.emit(source, *CODER, "--runtime", runtime))
            self.assertLessEqual({"encode/0/original/0", "decode/0/converted/0"}, set(shown))

    def test_a_package(self):
        source = self.save(Classes, torch.rand(1, 3, 32, 32))
        shown = self.agree(self.emit(source, "--nhwc", "--input", "1,3,32,32", "--runtime", "shim", "--package", "level=3; level=2"))
        self.assertLessEqual({"model 1/0/original/0", "model 2/0/converted/0"}, set(shown))

    def test_own_arrays(self):
        source = self.save(Words, torch.zeros(2, 5, dtype=torch.long), torch.ones(2, 5))
        script = self.emit(source, "--input", "2,5:int64", "--input", "2,5")
        random = numpy.random.default_rng(0)
        numpy.savez(self.folder / "in.npz", val=random.integers(0, 20, (6, 5)), mask=random.random((6, 5), numpy.float32))
        self.assertEqual(6, len(self.agree(script, self.folder / "in.npz")))

    def test_it_finds_the_files_from_its_own_folder(self):
        odd = self.folder / 'an "odd" folder'
        (odd / "scripts").mkdir(parents=True)
        source = self.save(Words, torch.zeros(2, 5, dtype=torch.long), torch.ones(2, 5), name='an "odd" folder/$x\'"""y.pt')
        self.succeed(source, "--input", "2,5:int64", "--input", "2,5", "-o", odd / '"""o$t.pt', "--emit-python", odd / "scripts/r.py",
                     "--emit-kotlin", odd / "r.kt")
        self.agree(odd / "scripts/r.py")
        odd.rename(self.folder / "moved")
        self.agree(self.folder / "moved/scripts/r.py")

    def test_a_difference_ends_it(self):
        source = self.save(Classes, torch.rand(1, 3, 32, 32))
        script = self.emit(source, "--nhwc", "--input", "1,3,32,32")
        torch.manual_seed(5)
        torch.jit.trace(Classes().eval(), torch.rand(1, 3, 32, 32)).save(str(source))
        done = self.run_script(script)
        self.assertEqual(1, done.returncode)
        self.assertIn("original and result differ", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_what_is_not_written(self):
        source = self.save(Classes, torch.rand(1, 3, 32, 32))
        out = ("--nhwc", "--input", "1,3,32,32", "-o", self.folder / "out.tflite")
        self.fail_with(2, source, *out, "--emit-kotlin", self.folder / "o.kt", needed=["--emit-kotlin", "-o"])
        self.fail_with(2, source, *out, "--emit-python", source, needed=["--emit-python", "MODEL"])
        refused = self.save(nn.Dropout, name="dropout.pt")
        self.fail_with(1, refused, "--input", "2,3", "--fallback", "none", "-o", self.folder / "o.pt", "--emit-python", self.folder / "r.py",
                       "--emit-kotlin", self.folder / "o.kt")
        self.assertFalse((self.folder / "r.py").exists() or (self.folder / "o.kt").exists())

    def test_kotlin(self):
        """What it says; scripts/systems/test-integrations.sh compiles and runs it."""
        source = self.save(Classes, torch.rand(1, 3, 32, 32))
        self.succeed(source, "--nhwc", "--input", "1,3,32,32", "--runtime", "shim", *PICTURES, *self.labels(), "-o",
                     self.folder / "my-net.pt", "--emit-kotlin", self.folder / "n.kt")
        code = (self.folder / "n.kt").read_text()
        for line in ("class MyNet(context: Context) : AutoCloseable {", "fun run(x: FloatArray): FloatArray =",
                     'NnapiAssets.copy(context, "my-net.pt")', "NnapiArray.of(x, 1, 3, 32, 32)",
                     "fun classify(bitmap: Bitmap): List<NnapiScore> ="):
            self.assertIn(line, code)
        self.succeed(source, "--nhwc", "--input", "1,3,32,32", "-o", self.folder / "net.ptl", "--emit-kotlin", self.folder / "n.kt")
        code = (self.folder / "n.kt").read_text()
        for line in ("LiteModuleLoader.load(path)", "Tensor.fromBlob(x, longArrayOf(1, 3, 32, 32))"):
            self.assertIn(line, code)


class Results(CliTest):
    def test_results_are_what_the_models_gave(self):
        source, out, path = self.folder / "model.pt", self.folder / "out.pt", self.folder / "results.npz"
        torch.jit.trace(seeded(Classes).eval(), torch.rand(1, 3, 32, 32)).save(str(source))
        self.succeed(source, "--nhwc", "--input", "1,3,32,32", "-o", out)
        given = torch.randn(3, 3, 32, 32)
        numpy.save(self.folder / "x.npy", given.numpy())
        self.succeed("verify", source, out, "--inputs", self.folder / "x.npy", "--results", path)
        with numpy.load(path) as arrays:
            self.assertEqual({f"{i}/{what}" for i in range(3) for what in ("inputs/x", "original/0", "converted/0")}, set(arrays.files))
            for i in range(3):
                x = given[i:i + 1]
                self.assertTrue((arrays[f"{i}/inputs/x"] == x.numpy()).all())
                for name, file in (("original", source), ("converted", out)):
                    (found,) = tensors(call(load(file), x))
                    self.assertLess(abs(arrays[f"{i}/{name}/0"] - found.numpy()).max(), 1e-6)

    def test_quantised_results_are_their_values(self):
        out, path = self.folder / "out.pt", self.folder / "results.npz"
        source = self.fixture("quant_quint8_bundled.pt")
        self.succeed(source, "--nhwc", "--quant", "full", "-o", out)
        self.succeed("verify", source, out, "--results", path)
        with numpy.load(path) as arrays:
            names = [name for name in arrays.files if "/converted/" in name]
            self.assertEqual({numpy.dtype("float32")}, {arrays[name].dtype for name in names})
            self.assertTrue(any(arrays[name].std() > 0 for name in names))

    def test_where_no_file_can_be(self):
        source, out = self.fixture("residual.pt"), self.folder / "out.pt"
        self.succeed(source, "--nhwc", "--input", "2,3,16,16", "-o", out)
        self.fail_with(3, "verify", source, out, "--results", self.folder / "nowhere/r.npz", needed=["nowhere"])
        self.fail_with(2, "verify", source, out, "--results", source, needed=["--results", "MODEL"])
        self.fail_with(2, "verify", source, out, "--per-op", "--results", self.folder / "r.npz", needed=["--results", "--per-op"])
        self.assertEqual({"out.pt"}, {path.name for path in self.folder.iterdir()})


if __name__ == "__main__":
    unittest.main()
