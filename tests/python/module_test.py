# SPDX-License-Identifier: BSD-3-Clause
"""The Python module: made of the command's options, and used as its users do."""

import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("NNAPI_CONVERT", str(ROOT / "build/release/bin/nnapi-convert"))
MODELS = ROOT / "testdata/models"
PLACE = tempfile.TemporaryDirectory(prefix="nnapi-convert-test-")
os.environ["NNAPI_CONVERT_PROGRAM"] = PROGRAM
sys.path[:0] = [str(ROOT / "scripts/generate"), PLACE.name]

import make_python_module  # noqa: E402

make_python_module.make_module(PROGRAM, pathlib.Path(PLACE.name))

import nnapi_convert  # noqa: E402
from nnapi_convert import commands, models, program  # noqa: E402

SIZE = 16


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(10, 8), nn.Linear(8, 3)

    def forward(self, tokens, scale):
        return self.head(self.table(tokens)).mean(1) * scale


class Refused(nn.Module):
    def forward(self, x):
        return torch.linalg.eigvalsh(x)


class Given:
    """A DataLoader, of which the module asks nothing but to be walked through."""

    def __init__(self, *batches):
        self.batches = batches

    def __iter__(self):
        return iter(self.batches)


class ModuleTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nnapi-convert-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.out = self.folder / "out.pt"
        self.net = Net().eval()
        self.example = torch.rand(1, 3, SIZE, SIZE)

    def quietly(self, function, *arguments, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*arguments, **options)

    def convert(self, model, example=None, output=None, **options):
        return self.quietly(nnapi_convert.convert, model, example, output or self.out, **{"nhwc": True, **options})


class Models(ModuleTest):
    def test_a_module_is_traced(self):
        result = self.convert(self.net, (self.example,))
        self.assertEqual("torch.jit.trace", result.how)
        self.assertTrue(result.is_whole)
        self.assertEqual(self.out, result.output)
        self.assertIn("100 % on NNAPI", result.summary)
        self.assertTrue(result.verify().passed)
        inputs = torch.rand(1, 3, SIZE, SIZE)
        self.assertTrue(result.verify((inputs,)).passed)
        self.assertTrue(result.verify([(inputs,), (inputs + 1,)]).passed)

    def test_the_bytes_are_those_of_the_command(self):
        with torch.no_grad():
            torch.jit.trace(self.net, self.example).save(str(self.folder / "model.pt"))
        self.convert(self.folder / "model.pt", self.example)
        other = self.folder / "other/out.pt"  # archives hold the file's name
        other.parent.mkdir()
        subprocess.run([PROGRAM, self.folder / "model.pt", "--input", f"1,3,{SIZE},{SIZE}", "--nhwc", "-o", other],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(other.read_bytes(), self.out.read_bytes())

    def test_a_script(self):
        result = self.convert(torch.jit.script(self.net), self.example)
        self.assertEqual("torch.jit.save", result.how)
        self.assertTrue(result.verify().passed)

    def test_an_exported_file(self):
        path = sorted((ROOT / "testdata/exported/2.8").glob("*.pt2"))[0]
        result = self.convert(str(path), nhwc=False, nchw=True)
        self.assertEqual(("file", path), (result.how, result.model))
        self.assertTrue(result.verify().passed)

    def test_several_arguments_and_dtypes(self):
        tokens, scale = torch.randint(0, 10, (1, 6)), torch.rand(1, 3)
        result = self.convert(Words().eval(), (tokens, scale), nhwc=False)
        self.assertEqual([[1, 6], [1, 3]], [entry["shape"] for entry in result.report["inputs"]])
        self.assertTrue(result.verify().passed)

    def test_the_fused_fast_path_is_off(self):
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
        for parameter in layer.parameters():
            parameter.requires_grad_(False)
        model = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).eval()
        result = self.convert(model, torch.rand(1, 4, 8), nhwc=False)
        text = str(torch.jit.load(str(result.model)).inlined_graph)
        self.assertIn("aten::softmax", text)
        self.assertNotIn("_transformer_encoder_layer_fwd", text)
        self.assertFalse(any(parameter.requires_grad for parameter in model.parameters()))
        self.assertTrue(result.verify().passed)

    def test_training_mode_is_refused(self):
        self.net.body[1].train()
        with self.assertRaisesRegex(ValueError, r"body\.1 is in training mode .*model\.eval\(\)"):
            self.convert(self.net, self.example)
        self.assertTrue(self.net.body[1].training)

    def test_what_is_no_model(self):
        for model, example, text in ((3, None, "int found"), (self.net, None, "example: nothing found"),
                                     (self.net, 3, "int found")):
            with self.subTest(text=text), self.assertRaisesRegex(TypeError, text):
                self.convert(model, example)
        with self.assertRaisesRegex(TypeError, "by name"):
            self.convert(self.net, {"x": self.example})


class Options(ModuleTest):
    def test_all_options_are_there(self):
        for command in ("convert", "check", "verify", "batch", "inspect"):
            words = [PROGRAM, *([] if command == "convert" else [command]), "--help"]
            text = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
            if "--help-all" in text:
                text = subprocess.run([*words[:-1], "--help-all"], stdout=subprocess.PIPE, text=True, check=True).stdout
            found = set(re.findall(r"^  (?:-\w,)?--([\w-]+)", text, re.M)) - make_python_module.OWN[command]
            self.assertEqual(found, {rule.option for rule in commands.RULES[command].values()}, command)
            function = getattr(nnapi_convert, command)
            for name in commands.RULES[command]:
                self.assertIn(f"        {name}:\n            ", function.__doc__)
                self.assertIn(name, function.__annotations__)

    def test_words(self):
        rules = commands.RULES["convert"]

        def words(**options):
            return program.words_of(rules, options)

        self.assertEqual(["--nhwc"], words(nhwc=True, nchw=False, min_api=None))
        self.assertEqual(["--nhwc=0,2"], words(nhwc=[0, 2]))
        self.assertEqual(["--mean=0.5,-1,2", "--std=1"], words(mean=(0.5, -1, 2), std=1))
        self.assertEqual(["--input=1,3", "--input=4"], words(input=["1,3", "4"]))
        self.assertEqual([f"--labels={self.folder}"], words(labels=self.folder))
        with self.assertRaisesRegex(TypeError, "min_api: True found"):
            words(min_api=True)
        with self.assertRaisesRegex(TypeError, "quant: list found"):
            words(quant=["full"])
        with self.assertRaises(TypeError):
            nnapi_convert.convert(self.net, self.example, self.out, no_such_option=1)

    def test_options_reach_the_command(self):
        result = self.convert(self.net, self.example, runtime="shim", note=["author=me", "version=2"],
                              fp16_weights=True)
        self.assertIn("--runtime shim", result.report["options"])
        self.assertIn("--note author=me", " ".join(result.report["options"]).replace("'", ""))
        self.assertIn("metadata", nnapi_convert.inspect(self.out))
        self.assertIn("digraph", nnapi_convert.inspect(self.out, "dot"))

    def test_reports(self):
        page = self.folder / "report.html"
        self.convert(self.net, self.example, report=page)
        self.assertIn("<html", page.read_text())
        with self.assertRaisesRegex(ValueError, "report: - found"):
            self.convert(self.net, self.example, report="-")

    def test_types(self):
        mypy = shutil.which("mypy", path="/usr/bin")
        if mypy is None:
            self.skipTest("Debian's mypy is not installed")
        user = self.folder / "user.py"
        user.write_text("import nnapi_convert\n"
                        "result = nnapi_convert.convert('model.pt', None, 'out.pt', nhwc=[0], runtime='shim')\n"
                        "names: list[str] = result.warnings\n"
                        "nnapi_convert.convert('model.pt', None, 'out.pt', runtime='other')\n")
        done = subprocess.run([mypy, "--strict", "--cache-dir", self.folder, user], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "MYPYPATH": PLACE.name})
        self.assertRegex(done.stdout, r'^\S+user\.py:4: error: Argument "runtime"[^\n]*\nFound 1 error')


class Samples(ModuleTest):
    def quantise(self, data, example=None, **options):
        return self.convert(self.net, (self.example,) if example is None else example, calibrate=data, **options)

    def count(self, result):
        return result.report["calibration"]["samples"] + result.report["calibration"]["held_back"]

    def test_a_loader_with_classes(self):
        loader = Given(*((torch.rand(4, 3, SIZE, SIZE), torch.zeros(4, dtype=torch.int64)) for _ in range(3)))
        with self.assertWarnsRegex(nnapi_convert.ConversionWarning, "1 more values than the model has arguments"):
            result = nnapi_convert.convert(self.net, (self.example,), self.out, nhwc=True, calibrate=loader)
        self.assertEqual(12, self.count(result))
        self.assertEqual(9, self.count(self.quantise(loader, samples=9)))

    def test_tensors(self):
        self.assertEqual(10, self.count(self.quantise(torch.rand(10, 3, SIZE, SIZE))))
        self.assertEqual(6, self.count(self.quantise([torch.rand(1, 3, SIZE, SIZE) for _ in range(6)])))

    def test_batches_of_the_models_own(self):
        result = self.quantise(torch.rand(11, 3, SIZE, SIZE), torch.rand(2, 3, SIZE, SIZE))
        self.assertEqual(5, self.count(result))

    def test_files_as_they_are(self):
        torch.save([torch.rand(1, 3, SIZE, SIZE) for _ in range(7)], self.folder / "samples.pt")
        self.assertEqual(7, self.count(self.quantise(self.folder / "samples.pt")))
        self.assertEqual(8, self.count(self.quantise("random:8")))

    def test_wrong_samples(self):
        batch = torch.rand(4, 3, SIZE, SIZE)
        cases = ((Given(), ValueError, "no sample found"), (3, TypeError, "int"),
                 (Given({"x": batch}), TypeError, "batches are dicts"),
                 (Given((batch, 3)), TypeError, "not known how many"))
        torch.jit.script(self.net).save(str(self.folder / "model.pt"))
        for data, kind, text in cases:
            with self.subTest(text=text), self.assertRaisesRegex(kind, text):
                self.convert(self.folder / "model.pt", calibrate=data, input=f"1,3,{SIZE},{SIZE}")


class Failures(ModuleTest):
    def test_refusals_are_data(self):
        with self.assertRaises(nnapi_convert.NotConvertible) as caught:
            self.convert(Refused().eval(), torch.rand(1, 4, 4), fallback="none", nhwc=False)
        error = caught.exception
        self.assertEqual(1, error.code)
        self.assertIn("linalg", " ".join(str(refusal) for refusal in error.refusals))
        self.assertIn("linalg", str(error))
        self.assertFalse(error.report["converted"])
        self.assertFalse(self.out.exists())

    def test_kinds(self):
        with self.assertRaises(nnapi_convert.UsageError) as caught:
            self.convert(self.net, self.example, min_api=3)
        self.assertEqual(2, caught.exception.code)
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaisesRegex(nnapi_convert.FileError, "no such file") as caught:
            self.convert(self.folder / "none.pt")
        self.assertEqual(3, caught.exception.code)
        self.assertEqual("can't read", str(caught.exception)[:10])
        with self.assertRaises(nnapi_convert.FileError):
            nnapi_convert.inspect(__file__)

    def test_results_that_differ(self):
        self.convert(self.net, self.example)
        other = Net().eval()
        with self.assertRaisesRegex(nnapi_convert.VerificationFailed, "original and result differ") as caught:
            self.quietly(nnapi_convert.verify, other, self.out, example=self.example)
        self.assertEqual(4, caught.exception.code)
        self.assertFalse(caught.exception.report["passed"])

    def test_warnings(self):
        with self.assertWarnsRegex(nnapi_convert.ConversionWarning, "NCHW"):
            result = nnapi_convert.convert(self.net, self.example, self.out)
        self.assertIn("NCHW", " ".join(result.warnings))

    def test_errors_are_pickled(self):
        """Dask, Ray and multiprocessing pickle what a worker raises."""
        with self.assertRaises(nnapi_convert.NotConvertible) as caught:
            self.convert(Refused().eval(), torch.rand(1, 4, 4), fallback="none", nhwc=False)
        kinds = nnapi_convert.errors.KINDS.items()
        errors = [caught.exception, *(kind("text", code, ["nnapi-convert"]) for code, kind in kinds)]
        for error in errors:
            error.__notes__ = ["note"]
            copy = pickle.loads(pickle.dumps(error))
            with self.subTest(kind=type(error).__name__):
                self.assertIs(type(error), type(copy))
                self.assertEqual((str(error), vars(error)), (str(copy), vars(copy)))
        self.assertNotEqual([], errors[0].refusals)

    def test_no_program(self):
        old = os.environ.pop("NNAPI_CONVERT_PROGRAM"), os.environ["PATH"]
        self.addCleanup(os.environ.update, {"NNAPI_CONVERT_PROGRAM": old[0], "PATH": old[1]})
        os.environ["PATH"] = str(self.folder)
        with self.assertRaisesRegex(FileNotFoundError, "install the wheel again"):
            nnapi_convert.ops()


class Commands(ModuleTest):
    def test_check(self):
        found = self.quietly(nnapi_convert.check, self.net, self.example, nhwc=True)
        self.assertTrue(found)
        self.assertEqual(("whole", 1, None), (found.how, len(found.segments), found.error))
        refused = self.quietly(nnapi_convert.check, Refused().eval(), torch.rand(1, 4, 4), fallback="none")
        self.assertFalse(refused)
        self.assertEqual("refused", refused.how)
        self.assertIsNotNone(refused.error)

    def test_ops(self):
        self.assertIn("aten::conv2d", " ".join(entry["operator"] for entry in nnapi_convert.ops()))
        self.assertIn("aten::einsum", nnapi_convert.ops("aten::einsum"))
        with self.assertRaises(nnapi_convert.UsageError):
            nnapi_convert.ops("einsum")

    def test_batch(self):
        for name in ("a/net.pt", "b/net.pt", "bad.pt"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(MODELS / "bundled.pt", self.folder / name)
        (self.folder / "bad.pt").write_bytes(b"no model")
        files = [self.folder / name for name in ("a/net.pt", "b/net.pt", "bad.pt")]
        done = self.quietly(nnapi_convert.batch, files, self.folder / "out", nhwc=True, keep_going=True)
        self.assertEqual({"a/net": "converted", "b/net": "converted", "bad": "bad_file"},
                         {entry["name"]: entry["status"] for entry in done.summary["models"]})
        self.assertEqual((1, ["bad"]), (done.code, [entry["name"] for entry in done.failed]))
        self.assertTrue((done.folder / "b/net.pt").exists())
        done = self.quietly(nnapi_convert.batch, self.folder / "a", self.folder / "one", nhwc=True, jobs=1)
        self.assertEqual((0, []), (done.code, done.failed))
        with self.assertRaises(nnapi_convert.UsageError):
            nnapi_convert.batch(files, self.folder / "out", limit="none=1")

    def test_progress(self):
        texts = []
        self.convert(self.net, self.example, progress=texts.append)
        self.assertIn("normalise", texts)
        self.assertIn("wrote", texts[-1])

    def test_the_command(self):
        done = subprocess.run([sys.executable, "-m", "nnapi_convert", "--version"], cwd=PLACE.name,
                              stdout=subprocess.PIPE, text=True, check=True)
        self.assertIn(f"nnapi-convert {nnapi_convert.__version__}", done.stdout)

    def test_without_pytorch(self):
        code = ("import sys, nnapi_convert\n"
                f"result = nnapi_convert.convert({str(MODELS / 'bundled.pt')!r}, None, {str(self.out)!r}, nhwc=True)\n"
                "assert result.verify().passed and nnapi_convert.check(result.model, nhwc=True)\n"
                "assert 'torch' not in sys.modules\n"
                "try:\n  nnapi_convert.convert(object())\n"
                "except TypeError as error:\n  assert 'object found' in str(error), error\n"
                "else:\n  raise AssertionError\n")
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=PLACE.name, stderr=subprocess.PIPE,
                              text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_files_are_removed(self):
        result = self.convert(self.net, self.example)
        self.assertTrue(result.model.exists())
        path = result.model
        del result
        self.assertFalse(path.exists())

    def test_results_are_pickled(self):
        result = self.convert(self.net, self.example)
        done = self.quietly(nnapi_convert.batch, [MODELS / "bundled.pt"], self.folder / "batch", nhwc=True)
        for value in (result, result.verify(), nnapi_convert.check(result.model, nhwc=True), done):
            self.assertEqual(repr(value), repr(pickle.loads(pickle.dumps(value))))
        copy = pickle.loads(pickle.dumps(result))
        self.assertEqual((result.report, result.output), (copy.report, copy.output))
        self.assertTrue(copy.verify().passed)
        del copy
        self.assertTrue(result.model.exists(), "a copy removes nothing")


class Pieces(unittest.TestCase):
    def test_specs(self):
        example = models.read_example((torch.zeros(1, 2), torch.zeros((), dtype=torch.int64),
                                       torch.zeros(3, dtype=torch.bool)))
        self.assertEqual(["1,2", "scalar:int64", "3:bool"], models.specs_of(example))
        self.assertEqual(["x=2"], models.specs_of(models.read_example({"x": torch.zeros(2)})))
        self.assertEqual([], models.specs_of(models.read_example((torch.zeros(1), 3))))

    def test_messages(self):
        lines = ["nnapi-convert: warning: one", "more of it", "nnapi-convert: quantise 7 %, about 24 s left",
                 "nnapi-convert: error: two", "nnapi-convert model.pt --input 1,3", "nnapi-convert: info: three"]
        told, errors, warned = [], [], []
        program.read_messages(iter(f"{line}\n" for line in lines), told.append, errors, warned)
        self.assertEqual(["one\nmore of it"], warned)
        self.assertEqual(["two\nnnapi-convert model.pt --input 1,3"], errors)
        self.assertEqual(["quantise 7 %, about 24 s left", "three"], told)


if __name__ == "__main__":
    unittest.main()
