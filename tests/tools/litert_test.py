# SPDX-License-Identifier: BSD-3-Clause
"""`--litert`: the file beside or without out.pt, what is refused, `check --litert`, `inspect`, and `verify` by LiteRT itself."""

import json
import unittest

import jsonschema
import torch
from torch import nn

import litert
from cli import ROOT, CliTest, run


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 8, 3, 2, 1)
        self.head = nn.Linear(8, 5)

    def forward(self, image):
        return {"scores": self.head(torch.relu(self.conv(image)).mean([2, 3])), "image": torch.tanh(image)}


class Detached(nn.Module):
    """A step that stays on the CPU."""

    def forward(self, x):
        return torch.svd(torch.tanh(x))[1] + torch.tanh(x)


class LitertTest(CliTest):
    def saved(self, module, *inputs, name="model.pt"):
        path = self.folder / name
        torch.jit.save(torch.jit.trace(module.eval(), inputs, strict=False), str(path))
        return path

    def small(self):
        return self.saved(Small(), torch.rand(1, 3, 9, 9))

    def convert(self, model, *options):
        return run(model, "--nhwc", "--input", "1,3,9,9", *options, cwd=self.folder)


class Branching(nn.Module):
    def forward(self, x):
        if bool(x.sum() > 0):
            return nn.functional.hardswish(x)
        return x + 1


class Files(LitertTest):
    def test_both_files_and_one_alone(self):
        model = self.small()
        target = ["--feature-level", "4", "--runtime", "shim", "--disable-pass", "l2_normalise"]
        both = self.convert(model, *target, "-o", "out.pt", "--litert", "out.tflite")
        self.assertEqual(both.code, 0, both)
        alone = self.convert(model, *target, "--litert", "alone.tflite")
        self.assertEqual(alone.code, 0, alone)
        self.assertTrue((self.folder / "out.pt").exists())
        bytes_of = (self.folder / "out.tflite").read_bytes()
        self.assertEqual(bytes_of[4:8], b"TFL3")
        self.assertEqual(bytes_of, (self.folder / "alone.tflite").read_bytes())

    def test_one_alone_has_no_level(self):
        """It never meets NNAPI, so that it takes the operations of the highest level, and needs no --runtime shim."""
        model = self.saved(nn.Hardswish(), torch.rand(1, 3, 9, 9) * 8 - 4)
        for options, count in ((["-o", "out.pt"], None), ([], 1), (["--feature-level", "3"], None)):
            made = self.convert(model, *options, "--litert", "out.tflite", "--report", "report.json")
            self.assertEqual(made.code, 0, made)
            report = json.loads((self.folder / "report.json").read_text())
            jsonschema.validate(report, json.loads((ROOT / "schemas/report.schema.json").read_text()))
            self.assertEqual(report["litert"]["operators"].get("HARD_SWISH"), count)
        made = self.convert(self.saved(nn.LayerNorm([9]), torch.rand(1, 3, 9, 9)), "--litert", "out.tflite", "--report",
                            "report.json")
        self.assertEqual(made.code, 0, made)
        found = json.loads((self.folder / "report.json").read_text())["litert"]
        self.assertIn("MEAN", found["operators"])
        self.assertEqual({}, found["not_on_gpu"])
        torch.jit.script(Branching()).save(str(model))
        made = self.convert(model, "--control-flow", "nnapi", "--litert", "out.tflite")
        self.assertEqual(made.code, 0, made)

    def test_inspect_names_arguments_and_results(self):
        self.convert(self.small(), "--litert", "out.tflite")
        shown = run("inspect", "out.tflite", "--format", "json", cwd=self.folder)
        self.assertEqual(shown.code, 0, shown)
        signature = json.loads(shown.stdout)["signatures"][0]
        self.assertEqual([port["name"] for port in signature["inputs"]], ["image"])
        self.assertEqual([port["name"] for port in signature["outputs"]], ["scores", "image"])
        self.assertIn("CONV_2D version 1", run("inspect", "out.tflite", cwd=self.folder).stdout)

    def test_check_says_whether(self):
        checked = run("check", self.small(), "--nhwc", "--input", "1,3,9,9", "--litert", "--format", "json")
        self.assertEqual(checked.code, 0, checked)
        report = json.loads(checked.stdout)
        jsonschema.validate(report, json.loads((ROOT / "schemas/check.schema.json").read_text()))
        self.assertEqual(report["litert"]["runs"], True)
        self.assertEqual(report["litert"]["operators"]["FULLY_CONNECTED"], 1)


class Refused(LitertTest):
    def refused(self, result, text, code=1):
        self.assertEqual(result.code, code, result)
        self.assertIn(text, result.stderr)
        self.assertFalse((self.folder / "out.tflite").exists())
        self.assertFalse((self.folder / "out.pt").exists())

    def test_nchw_is_one_error(self):
        result = run(self.small(), "--input", "1,3,9,9", "--litert", "out.tflite", "-o", "out.pt", cwd=self.folder)
        self.refused(result, "add --nhwc")
        self.assertEqual(result.stderr.count("NCHW; needed"), 1)
        self.refused(run(self.small(), "--nchw", "--litert", "out.tflite", cwd=self.folder), "--nchw", 2)

    def test_steps_on_the_cpu_are_refused_with_the_first(self):
        model = self.saved(Detached(), torch.rand(3, 3))
        result = run(model, "--input", "3,3", "--litert", "out.tflite", "-o", "out.pt", cwd=self.folder)
        self.refused(result, "aten::svd")

    def test_equal_paths_and_unwritable_ones(self):
        model = self.small()
        self.refused(self.convert(model, "-o", "out.pt", "--litert", "out.pt"), "--litert", 2)
        self.refused(self.convert(model, "--litert", "none/out.tflite"), "none", 3)
        self.refused(self.convert(model, "--litert", "model.pt"), "--litert", 2)
        self.refused(self.convert(model), "--output or --litert is required", 2)
        self.refused(self.convert(model, "-o", "out.pt", "--litert-uint8"), "--litert", 2)

    def test_a_damaged_file_is_no_fault_of_the_program(self):
        self.convert(self.small(), "--litert", "out.tflite")
        whole = (self.folder / "out.tflite").read_bytes()
        for size in (8, 100, len(whole) // 2):
            (self.folder / "cut.tflite").write_bytes(whole[:size])
            result = run("inspect", "cut.tflite", cwd=self.folder)
            self.assertIn(result.code, (0, 3), result)


class WithoutLitert(LitertTest):
    """Where LiteRT isn't installed, --verify says so."""

    def convert_without(self, *options):
        return run(self.small(), "--nhwc", "--input", "1,3,9,9", "--litert", "out.tflite", "--verify", *options,
                   cwd=self.folder, env={"NNAPI_CONVERT_LITERT": str(self.folder / "none")})

    def test_a_file_beside_another_is_warned_of(self):
        result = self.convert_without("-o", "out.pt")
        self.assertEqual(result.code, 0, result)
        self.assertIn("--verify: out.tflite is not verified", result.stderr)

    def test_a_file_alone_is_not_written(self):
        result = self.convert_without()
        self.assertEqual(result.code, 3, result)
        self.assertIn("no LiteRT to run the file", result.stderr)
        self.assertFalse((self.folder / "out.tflite").exists())


@unittest.skipIf(litert.missing(), litert.missing())
class InLitert(LitertTest):
    def test_verify_runs_the_file(self):
        self.convert(self.small(), "--litert", "out.tflite")
        result = run("verify", "model.pt", "out.tflite", cwd=self.folder)
        self.assertEqual(result.code, 0, result)
        self.assertIn("passed", result.stdout)

    def test_a_quantised_file_alone_is_right(self):
        """It takes the operations of the highest level, and a scale for each channel."""
        for mode in ("core", "full"):
            made = run(self.fixture("quant_quint8_bundled.pt"), "--nhwc", "--quant", mode, "--litert", "out.tflite", "--verify",
                       cwd=self.folder)
            self.assertEqual(made.code, 0, made)
            self.assertIn("passed", made.stdout)

    def test_a_conversion_verifies_its_litert_file(self):
        model = self.small()
        both = self.convert(model, "-o", "out.pt", "--litert", "out.tflite", "--verify")
        self.assertEqual(both.code, 0, both)
        self.assertEqual(both.stdout.count("passed ("), 2, both)
        alone = self.convert(model, "--litert", "alone.tflite", "--verify")
        self.assertEqual(alone.code, 0, alone)
        self.assertEqual(alone.stdout.count("passed ("), 1, alone)

    def test_a_damaged_record_is_named(self):
        self.convert(self.small(), "--litert", "out.tflite")
        whole = (self.folder / "out.tflite").read_bytes()
        for right, wrong in ((b'"inputs":[{', b'"inputx":[{'), (b'"argument":0', b'"argument":7'),
                             (b'"results"', b'"resultz"'), (b'"output":1', b'"output":9'), (b'"key"', b'"kex"'),
                             (b'"method":""', b'"method":42')):
            with self.subTest(wrong=wrong):
                self.assertEqual(whole.count(right), 1)
                (self.folder / "wrong.tflite").write_bytes(whole.replace(right, wrong))
                result = run("verify", "model.pt", "wrong.tflite", cwd=self.folder)
                self.assertEqual(result.code, 3, result)
                self.assertEqual(len(result.stderr.splitlines()), 1, result)

    def test_verify_finds_other_weights(self):
        self.convert(self.small(), "--litert", "out.tflite")
        other = Small()
        with torch.no_grad():
            other.head.weight[0] += 0.1
        self.saved(other, torch.rand(1, 3, 9, 9), name="other.pt")
        self.assertEqual(run("verify", "other.pt", "out.tflite", cwd=self.folder).code, 4)


if __name__ == "__main__":
    unittest.main()
