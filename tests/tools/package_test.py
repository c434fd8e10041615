# SPDX-License-Identifier: BSD-3-Clause
"""--package: several models of one network in one file, and which of them each NNAPI gets."""

import json
import pathlib
import subprocess
import sys
import unittest

import jsonschema
import torch
from torch import nn

from cli import HOST, ROOT, CliTest, environment, run
from mobile_models import seeded

HERE = pathlib.Path(__file__).resolve().parent
SIZE = "1,3,32,32"
UNREFINED = ("--without", "refine-ranges")


class Small(nn.Module):
    """Heavy enough that weights are most of the file."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.Hardswish(),
                                    nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(),
                                    nn.Conv2d(128, 64, 3, padding=1), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.layers(x))


class AnyRank(nn.Module):
    def forward(self, x):
        return torch.relu(x)


class Sum(nn.Module):
    def forward(self, x, y):
        return torch.relu(x + y)


def run_app(folder, path, names, level=None, profile=None, options=None, has_nnapi=True):
    """Gives the results and the state, in a process of its own, on an NNAPI of that level."""
    library = HOST / ("." if level is None or level > 4 else f"level{level}") / "libneuralnetworks.so"
    extra = {"OMP_NUM_THREADS": "1"}
    if profile is not None:
        extra["NNAPI_HOST_PROFILE"] = str(profile)
    if level is not None:
        extra["NNAPI_HOST_FEATURE_LEVEL"] = str(level)
    server = [HERE / "servers.py", "run"] if has_nnapi else []  # whose LD_LIBRARY_PATH leads to the host's NNAPI
    command = [sys.executable, *server, HERE / "run_package.py", path, folder, json.dumps(options or {}),
               library if has_nnapi else "", *names]
    done = subprocess.run(list(map(str, command)), env=environment(extra), capture_output=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return torch.load(folder / "results.pt"), json.loads(done.stdout.decode().splitlines()[-1])


class Package(CliTest):
    def setUp(self):
        super().setUp()
        self.module = seeded(Small).eval()
        self.model = self.folder / "model.pt"
        torch.jit.trace(self.module, torch.randn(1, 3, 32, 32)).save(str(self.model))
        torch.manual_seed(3)
        self.data = torch.randn(24, 3, 32, 32)
        torch.save(self.data, self.folder / "data.pt")

    def packed(self, package, *options, name="out.pt", size=SIZE):
        path = self.folder / name
        more = ["--package", package] if package else []
        self.succeed(self.model, "--nhwc", "--runtime", "shim", "--input", size, *more, *options, "-o", path)
        return path

    def calibrated(self, package, *options, name="out.pt", refined=False):
        """The refinement of ranges, which takes most of the time, is apart from packages but for one test."""
        quick = () if refined else UNREFINED
        return self.packed(package, "--calibrate", self.folder / "data.pt", *quick, *options, name=name)

    def run_app(self, path, tensors, **options):
        for i, tensor in enumerate(tensors):
            torch.save(tensor, self.folder / f"x{i}.pt")
        return run_app(self.folder, path, [f"x{i}.pt" for i in range(len(tensors))], **options)

    def check(self, found, tensor, tolerance):
        expected = self.module(tensor)
        span = (expected.max() - expected.min()).item()
        self.assertGreater(span, 0)
        self.assertLess((found - expected).abs().max().item(), tolerance * span)

    def test_each_level_gets_its_model(self):
        # HARD_SWISH is of level 4; before, a formula takes its place.
        path = self.calibrated("level=4,quant=nnapi,per-channel; level=4; level=1", "--verify", refined=True)
        x = self.data[:1]
        for level, text, tolerance in ((1, "model 3 of 3 (level=1)", 1e-4), (3, "model 3 of 3 (level=1)", 1e-4),
                                       (8, "model 1 of 3 (level=4,quant=nnapi,per-channel)", 0.1)):
            (found,), state = self.run_app(path, [x], level=level)
            self.assertTrue(state.startswith("nnapi, " + text), (level, state))
            self.check(found, x, tolerance)

    def test_equal_models_are_named(self):
        said = self.succeed(self.model, "--nhwc", "--runtime", "shim", "--input", SIZE, "--package",
                            "level=3; level=2; level=3,relax-fp16", "-o", self.folder / "same.pt").stderr
        self.assertIn("model 2 (level=2) is the same as model 1 (level=3), so that no phone takes it", said)
        self.assertNotIn("model 3", said)

    def test_a_device_gets_the_model_that_it_takes(self):
        path = self.calibrated("quant=nnapi; level=3")
        x = self.data[:1]
        device = {"name": "floats", "version": "1", "type": "accelerator", "feature_level": 3}
        floats_only = {"version": 1, "device": device,
                       "refuses": [{"types": {"*": ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"]}}]}
        profile = self.folder / "floats.json"
        profile.write_text(json.dumps(floats_only))
        # The host's own device takes all; the profile's device alone does not.
        (found,), state = self.run_app(path, [x], profile=profile)
        self.assertTrue(state.startswith("nnapi, model 1 of 2 (quant=nnapi)"), state)
        self.check(found, x, 0.1)

    def test_sizes_of_each_model(self):
        path = self.packed("shape=1,3,32,32; shape=1,3,48,48", "--verify")
        torch.manual_seed(5)
        small, large = torch.randn(1, 3, 32, 32), torch.randn(1, 3, 48, 48)
        (first, second, third), state = self.run_app(path, [large, small, large])
        self.check(first, large, 1e-4)
        self.check(second, small, 1e-4)
        self.check(third, large, 1e-4)
        self.assertTrue(state.startswith("nnapi, model 1 of 2 (shape=1,3,32,32)"), state)
        plain = self.packed("", name="plain.pt")
        self.assertLess(path.stat().st_size, 1.1 * plain.stat().st_size)

    def test_integers_inside_floats_outside(self):
        """Level 1 has no QUANTIZE: the shim converts."""
        path = self.calibrated("level=1,quant=full; level=3; level=4,per-channel; shape=1,3,48,48", "--verify",
                               "--report", self.folder / "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(["full", "none", "nnapi", "none"], [model["quant"] for model in report["package"]])
        self.assertEqual(1, report["package"][0]["feature_level"])
        self.assertEqual([True, False, True, False], ["calibration" in model for model in report["package"]])
        self.assertEqual([True] * 4, [check["passed"] for check in report["verification"]["package"]])
        torch.manual_seed(7)
        small, large = self.data[:1], torch.randn(1, 3, 48, 48)
        for level in (1, 2, 3, 8):
            (first, second), state = self.run_app(path, [large, small], level=level)
            self.check(first, large, 1e-4)
            self.check(second, small, 0.1)
            self.assertGreater((second - self.module(small)).abs().max().item(), 1e-4)  # it was the integers' model
            self.assertTrue(state.startswith("nnapi, model 1 of 4 (level=1,quant=full)"), (level, state))
        self.succeed("verify", self.model, path)

    def test_with_the_cpu_model(self):
        """One CPU model for all, whichever takes and gives floats; it runs where NNAPI can't."""
        refuses_all = {"version": 1, "device": {"name": "none", "version": "1", "type": "accelerator",
                                                "feature_level": 3}, "accepts": []}
        profile = self.folder / "none.json"
        profile.write_text(json.dumps(refuses_all))
        x = self.data[:1]
        sizes = {}
        for fallback in ("cpu", "cpu-plain"):
            for package in ("level=3; level=1", "level=1,quant=full; level=3; level=4,per-channel"):
                with self.subTest(package=package, fallback=fallback):
                    pack = self.calibrated if "quant" in package else self.packed
                    path = pack(package, "--fallback", fallback, "--verify")
                    sizes[package, fallback] = path.stat().st_size
                    (found,), state = self.run_app(path, [x])
                    self.assertTrue(state.startswith("nnapi, model 1 of"), state)
                    self.check(found, x, 0.1)
                    (found,), state = self.run_app(path, [x], has_nnapi=False)
                    self.assertTrue(state.startswith("cpu"), state)
                    self.check(found, x, 1e-4)
                    (found,), state = self.run_app(path, [x], profile=profile, options={"device": "none"})
                    self.assertTrue(state.startswith("cpu"), state)
                    self.check(found, x, 1e-4)
        plain = self.packed("level=3; level=1", name="no_cpu.pt").stat().st_size
        weights = sum(4 * parameter.numel() for parameter in self.module.parameters())
        self.assertLess(sizes["level=3; level=1", "cpu-plain"] - plain, 1.1 * weights)

    def test_pixels_in(self):
        path = self.packed("level=3; level=1", "--input-pixels", "uint8", "--mean", "0", "--std", "1", "--verify",
                           "--fallback", "cpu")
        pixels = torch.randint(0, 256, (1, 32, 32, 3), dtype=torch.uint8)
        expected = self.module(pixels.permute(0, 3, 1, 2) / 255)
        (found,), state = self.run_app(path, [pixels])
        self.assertTrue(state.startswith("nnapi, model 1 of 2"), state)
        span = (expected.max() - expected.min()).item()
        self.assertGreater(span, 0)
        self.assertLess((found - expected).abs().max().item(), 1e-4 * span)

    def test_sizes_by_name(self):
        model = self.folder / "sum.pt"
        torch.jit.script(Sum()).save(str(model))
        out = self.folder / "out.pt"
        self.succeed(model, "--runtime", "shim", "--input", "x=1,4", "--input", "y=1,4", "--package",
                     "level=3; shape=y=6,4", "--verify", "-o", out)
        pairs = [(torch.randn(1, 4), torch.randn(rows, 4)) for rows in (1, 6)]
        found, state = self.run_app(out, pairs)
        for result, (x, y) in zip(found, pairs):
            self.assertLess((result - Sum()(x, y)).abs().max().item(), 1e-5)
        self.assertTrue(state.startswith("nnapi, model 2 of 2 (shape=y=6,4)"), state)

    def test_name_of_a_shape_where_inputs_have_none(self):
        model = self.folder / "sum.pt"
        torch.jit.script(Sum()).save(str(model))
        arguments = [model, "--runtime", "shim", "--input", "1,4", "--input", "1,4", "-o", self.folder / "out.pt"]
        self.succeed(*arguments, "--package", "level=3; shape=y=6,4", "--verify")
        self.fail_with(2, *arguments, "--package", "level=3; shape=z=6,4", needed=["shape=z", "no such tensor", "x, y"])
        self.fail_with(2, "check", model, "--runtime", "shim", "--input", "1,4", "--input", "1,4", "--package",
                       "level=3; shape=z=6,4", needed=["shape=z", "no such tensor", "x, y"])

    def test_the_fastest_model(self):
        path = self.packed("level=3; level=1", "--fallback", "cpu")
        (found,), state = self.run_app(path, [self.data[:1]], options={"auto_select": "1"})
        self.assertRegex(
            state, r"^measuring, model \d of 2 .*; not model \d of 2 .*: a run takes [0-9.]+ ms, not [0-9.]+ ms")
        self.check(found, self.data[:1], 1e-4)

    def test_check(self):
        package = "level=1,quant=full; level=3; shape=1,3,48,48"
        done = self.succeed("check", self.model, "--nhwc", "--input", SIZE, "--runtime", "shim", "--package", package,
                            "--format", "json")
        report = json.loads(done.stdout)
        schema = json.loads((ROOT / "schemas" / "check.schema.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(report)
        self.assertEqual(["level=1,quant=full", "level=3", "shape=1,3,48,48"],
                         [model["name"] for model in report["package"]])
        self.assertEqual([1, 3], [model["target_feature_level"] for model in report["package"][:2]])
        text = self.succeed("check", self.model, "--nhwc", "--input", SIZE, "--runtime", "shim", "--package",
                            package).stdout
        self.assertIn(f"{self.model} (level=3)", text)
        self.fail_with(2, "check", self.model, "--package", "level=3", needed=["--package", "--runtime shim"])

    def checked(self, code, model, package, *options):
        done = run("check", model, "--nhwc", "--runtime", "shim", "--package", package, "--format", "json", *options)
        self.assertEqual(code, done.code, str(done))
        return json.loads(done.stdout)["package"]

    def test_check_says_what_convert_does(self):
        """Of models that are refused, too: alone, and beside others."""
        entry, = self.checked(1, self.fixture("unknown_operations.pt"), "quant=full", "--input", SIZE)
        self.assertIn("can't be lowered", entry["error"])  # not that it is a float model
        self.assertFalse(entry["converts"])
        # Models of other ranks are no package.
        model = self.folder / "flat.pt"
        torch.jit.script(AnyRank()).save(str(model))
        first, second = self.checked(1, model, "level=3; shape=1,3,32", "--input", SIZE)
        self.assertTrue(first["converts"])
        self.assertIn("rank 3, and TENSOR_FLOAT32, rank 4", second["error"])
        refused = self.fail_with(1, model, "--nhwc", "--runtime", "shim", "--input", SIZE, "--package",
                                 "level=3; shape=1,3,32", "-o", self.folder / "out.pt")
        self.assertIn(second["error"], refused.stderr)

    def test_check_of_a_quantised_original(self):
        model = self.fixture("quant.pt")
        first, second = self.checked(0, model, "level=3,quant=nnapi; level=1,quant=core")
        self.assertEqual(["nnapi", "core"], [first["quant"], second["quant"]])

    def test_weights_are_shared(self):
        both = self.calibrated("level=3; level=1; quant=nnapi")
        floats = self.packed("", name="float.pt")
        integers = self.calibrated("", name="integer.pt")
        self.assertLess(both.stat().st_size, 1.1 * (floats.stat().st_size + integers.stat().st_size))
        shown = json.loads(self.succeed("inspect", both, "--format", "json").stdout)["package"]
        self.assertEqual(["none", "none", "nnapi"], [model["quant"] for model in shown["models"]])
        self.assertEqual(shown["models"][0]["weight_bytes"], shown["models"][1]["weight_bytes"])
        self.assertEqual(shown["models"][0]["weight_begin"], shown["models"][1]["weight_begin"])
        self.assertEqual(0, shown["models"][2]["weight_begin"] % 16384)
        shared = shown["models"][0]["weights_read"]
        self.assertGreater(shared, 1000)
        self.assertIn(f" {shared} bytes shared", self.succeed("inspect", both).stdout)

    def test_integers_map_no_floats(self):
        """Between the first and the third model is one of floats, which the third one doesn't need."""
        path = self.calibrated("level=1,quant=full; level=3; level=4,per-channel")
        models = json.loads(self.succeed("inspect", path, "--format", "json").stdout)["package"]["models"]
        integers = models[0]["weights_read"] + models[2]["weights_read"]
        self.assertLess(models[2]["weight_bytes"], integers + 4096)
        self.assertGreater(models[1]["weight_bytes"], models[2]["weight_bytes"])
        self.succeed("verify", self.model, path, "--inputs", self.folder / "data.pt")

    def test_report_and_verification_have_every_model(self):
        self.calibrated("quant=nnapi; level=1", "--verify", "--report", self.folder / "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        schema = json.loads((ROOT / "schemas" / "report.schema.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(report)
        self.assertEqual(["quant=nnapi", "level=1"], [model["name"] for model in report["package"]])
        self.assertEqual(["nnapi", "none"], [model["quant"] for model in report["package"]])
        checks = report["verification"]["package"]
        self.assertEqual([True, True], [check["passed"] for check in checks])
        self.assertIn("SNR", checks[0]["criterion"])
        self.assertIn("0.0001", checks[1]["criterion"])
        verified = self.succeed("verify", self.model, self.folder / "out.pt")
        self.assertIn("model 2 (level=1)", verified.stdout)
        self.fail_with(2, "verify", self.model, self.folder / "out.pt", "--per-op",
                       needed=["package", "without --per-op"])

    def test_the_same_bytes_each_time(self):
        first = self.packed("level=3; level=1").read_bytes()
        self.assertEqual(first, self.packed("level=3; level=1").read_bytes())

    def refused(self, code, package, *options, needed):
        runtime = [] if "--runtime" in options else ["--runtime", "shim"]
        self.fail_with(code, self.model, "--nhwc", "--input", SIZE, *runtime, "--package", package, *options, "-o",
                       self.folder / "refused.pt", needed=needed)
        self.assertFalse((self.folder / "refused.pt").exists())

    def test_refusals(self):
        self.refused(2, "level=9", needed=["level '9' found, 1 to 8 needed"])
        self.refused(2, "level=3; ", needed=["'' found"])
        self.refused(2, "speed=3", needed=["'speed=3' found"])
        self.refused(2, "quant=int4", needed=["quant 'int4' found"])
        self.refused(2, "level=3,quant=none,per-channel", needed=["per-channel", "quant=nnapi"])
        self.refused(1, "level=3,per-channel", needed=["model 1 (level=3,per-channel)", "--calibrate"])
        self.refused(2, "level=3; level=2,per-channel", needed=["level=2,per-channel", "from level 3 on"])
        self.refused(2, "level=3; per-channel", "--feature-level", "1", needed=["per-channel", "from level 3 on"])
        self.refused(2, "shape=1,3,48,48:quint8:1:0", needed=["48:quint8:1:0", "shape=SIZES"])
        self.refused(2, "shape=x=1:int32", needed=["sizes needed"])
        self.refused(2, "level=3; level=1", "--calibrate", "random:8", needed=["--calibrate", "quant=nnapi"])
        self.refused(2, "shape=x=true", needed=["sizes needed"])
        self.refused(1, "shape=1,0,48,48", needed=["sizes of 1 or more needed"])
        self.refused(2, "shape=1,3,48,48,shape=1,3,32,32", needed=["1 tensor"])
        self.refused(2, "level=3;\x1b[31m\xff", needed=["found"])
        self.refused(2, "level=3; level=3", needed=["there twice"])
        self.refused(2, "level=3,level=1", needed=["level is there twice", "semicolon"])
        self.refused(2, "level=3,relax-fp16,relax-fp16", needed=["relax-fp16 is there twice"])
        self.refused(2, "", needed=["--package", "level=3"])
        many = ";".join(f"level={1 + i % 8},shape=1,3,32,{32 + i}" for i in range(17))
        self.refused(2, many, needed=["17 models found"])
        self.refused(2, "level=3", "--runtime", "pytorch", needed=["--runtime shim"])
        self.refused(2, "level=3", "--fallback", "partition", needed=["whole models"])
        self.refused(2, "level=3", "--calibrate", "random:8", "--calibration", self.folder / "table.json",
                     needed=["--calibration"])
        self.refused(1, "quant=nnapi", needed=["model 1 (quant=nnapi)", "--calibrate"])
        # What level 1 lacks changes the ranges; no model has floats.
        self.refused(1, "level=1,quant=full; quant=full", "--calibrate", self.folder / "data.pt", *UNREFINED,
                     needed=["model 2 (quant=full)", "same", "add a float model"])

    def test_half_precision_of_one_model(self):
        path = self.packed("level=3,relax-fp16; level=3")
        self.assertIn("model 2 (level=3)", self.succeed("verify", self.model, path, "--fp16").stdout)
        self.fail_with(2, "verify", self.model, self.packed("level=3; level=2"), "--fp16", needed=["--relax-fp16"])

    def test_no_model_runs(self):
        path = self.packed("level=3; level=1", "--fallback", "cpu")
        _, state = self.run_app(path, [torch.randn(1, 3, 32, 32)], options={"device": "no such device"})
        for text in ("no model; not model 1 of 2 (level=3): there is no NNAPI device", "; not model 2 of 2 (level=1): "):
            self.assertIn(text, state)

    def test_one_model_that_cannot_be_calibrated(self):
        """The data's sizes are those of one model only: nothing is written, and the message names the other."""
        self.refused(3, "level=3; quant=full,shape=1,3,48,48", "--calibrate", self.folder / "data.pt",
                     needed=["model 2 (quant=full,shape=1,3,48,48)", "48"])
        self.assert_no_leftovers()

    def test_integers_alone(self):
        """A package without floats keeps its integers outside."""
        original, path = self.fixture("quant_quint8_bundled.pt"), self.folder / "out.pt"
        self.succeed(original, "--nhwc", "--runtime", "shim", "--package", "level=1,quant=full; quant=full", "-o", path,
                     "--verify", "--fallback", "cpu")
        self.assertRegex(self.succeed("inspect", path).stdout, r"inputs of forward\n  \w+: quint8")


if __name__ == "__main__":
    unittest.main()
