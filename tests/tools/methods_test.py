# SPDX-License-Identifier: BSD-3-Clause
"""--method: several methods of a model convert to one file, and the others stay as they are."""

import json
import unittest
import zipfile

import torch

from cli import CliTest
from method_models import Coder, Growing, Large, OnlyMethods, Pictures, Stream
from stock_torch import StockTorchTest, load, load_lite

CODER = ("--method", "encode", "--method", "decode", "--input", "encode.x=2,64", "--input", "code=2,64",
         "--input", "strength=1.5")
PICTURES = ("--method", "encode", "--method", "decode", "--input", "picture=1,3,16,16", "--input", "code=1,8,16,16")
STREAM = ("--method", "step", "--method", "peek", "--input", "x=1,32", "--min-segment-macs", "0")


def values(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class MethodsTest(CliTest, StockTorchTest):
    def save(self, model, name="model.pt"):
        torch.manual_seed(0)
        path = self.folder / name
        torch.jit.script(model.eval()).save(str(path))
        return path

    def convert_methods(self, model, *arguments, out="out.pt"):
        """The original, the converted module, and the report's methods by name."""
        torch.manual_seed(0)
        path, report = self.save(model()), self.folder / "report.json"
        self.succeed(path, *arguments, "--report", report, "-o", self.folder / out)
        methods = {each["method"]: each for each in json.loads(report.read_text())["methods"]}
        return load(path), (load_lite if out.endswith(".ptl") else load)(self.folder / out), methods

    def assert_same(self, original, converted, method, *inputs):
        with torch.no_grad():
            expected = getattr(original, method)(*inputs)
            is_lite = not isinstance(converted, torch.jit.ScriptModule)
            found = converted.run_method(method, *inputs) if is_lite else getattr(converted, method)(*inputs)
        self.assert_close(expected, found)
        return expected


class Plain(MethodsTest):
    def test_two_methods_and_forward_stays(self):
        original, converted, methods = self.convert_methods(Coder, *CODER)
        self.assertEqual(["encode", "decode"], list(methods))
        for seed in range(3):
            x = values(seed, 2, 64)
            seen = [self.assert_same(original, converted, "encode", x),
                    self.assert_same(original, converted, "decode", x, 1.5),
                    self.assert_same(original, converted, "forward", x)]
            self.assertTrue(all(tensor.std() > 1e-2 for tensor in seen))
        self.assertIn("nnapi_method_encode", converted.encode.code)
        self.assertNotIn("nnapi", converted.forward.code)

    def test_weights_are_shared(self):
        """The weight is once in the file for NNAPI, and once in the code of forward."""
        self.convert_methods(Coder, *CODER)
        with zipfile.ZipFile(self.folder / "out.pt") as archive:
            sizes = [entry.file_size for entry in archive.infolist() if "/data/" in entry.filename]
        self.assertEqual(1, sizes.count(4 * 64 * 64))

    def test_forward_beside_another(self):
        original, converted, _ = self.convert_methods(
            Coder, "--method", "forward", "--method", "encode", "--input", "x=2,64")
        self.assert_same(original, converted, "forward", values(1, 2, 64))
        self.assert_same(original, converted, "encode", values(2, 2, 64))
        self.assert_same(original, converted, "decode", values(3, 2, 64), 0.5)

    def test_one_method_takes_input_by_position(self):
        original, converted, _ = self.convert_methods(Coder, "--method", "encode", "--input", "2,64")
        self.assert_same(original, converted, "encode", values(1, 2, 64))

    def test_pictures_in_both_layouts(self):
        for layout in ("--nhwc", "--nchw"):
            original, converted, methods = self.convert_methods(Pictures, *PICTURES, layout)
            self.assertNotIn("partition", methods["encode"])
            self.assert_same(original, converted, "encode", values(1, 1, 3, 16, 16))
            self.assert_same(original, converted, "decode", values(2, 1, 8, 16, 16))
            self.assert_same(original, converted, "forward", values(3, 1, 3, 16, 16))

    def test_lite_interpreter(self):
        original, converted, _ = self.convert_methods(Pictures, *PICTURES, "--nhwc", out="out.ptl")
        self.assert_same(original, converted, "encode", values(1, 1, 3, 16, 16))
        self.assert_same(original, converted, "forward", values(3, 1, 3, 16, 16))

    def test_without_forward(self):
        original, converted, _ = self.convert_methods(OnlyMethods, "--method", "encode", "--input", "2,16")
        self.assert_same(original, converted, "encode", values(1, 2, 16))

    def test_shim(self):
        path, out = self.save(Pictures()), self.folder / "out.pt"
        self.succeed(path, *PICTURES, "--nhwc", "--runtime", "shim", "--verify", "-o", out)


class State(MethodsTest):
    def test_methods_see_the_same_attributes(self):
        original, converted, methods = self.convert_methods(Stream, *STREAM)
        self.assertEqual(1.0, methods["peek"]["partition"]["counted_mac_share"])
        seen = []
        for call in range(6):
            x = values(call, 1, 32)
            self.assert_same(original, converted, "step", x)
            seen.append(self.assert_same(original, converted, "peek", values(9, 1, 32)))
            self.assert_same(original, converted, "forward", x)
        self.assertGreater((seen[0] - seen[-1]).abs().max().item(), 1e-2, "the state changes nothing")
        for module in (original, converted):
            module.set_gain(3.0)
        self.assert_same(original, converted, "peek", values(9, 1, 32))
        for module in (original, converted):
            module.reset_states()
        self.assert_same(original, converted, "peek", values(9, 1, 32))
        self.assert_same(original, converted, "forward", values(8, 1, 32))

    def test_state_survives_saving(self):
        original, converted, _ = self.convert_methods(Stream, *STREAM)
        again = self.folder / "again.pt"
        torch.jit.save(converted, str(again))
        converted = load(again)
        for call in range(3):
            self.assert_same(original, converted, "step", values(call, 1, 32))
            self.assert_same(original, converted, "peek", values(call, 1, 32))

    def test_state_that_another_method_lets_grow(self):
        original, converted, _ = self.convert_methods(
            Growing, "--method", "mean", "--method", "add", "--input", "x=1,16", "--min-segment-macs", "0")
        for call in range(4):
            self.assert_same(original, converted, "mean", values(call, 1, 16))
            self.assert_same(original, converted, "add", values(call, 1, 16))


class Commands(MethodsTest):
    def setUp(self):
        super().setUp()
        self.path, self.out = self.save(Coder()), self.folder / "out.pt"

    def test_verify_and_inspect(self):
        self.succeed(self.path, *CODER, "--verify", "-o", self.out)
        result = self.succeed("verify", self.path, self.out)
        self.assertEqual(2, result.stdout.count("passed ("))
        report = json.loads(self.succeed("verify", self.path, self.out, "--format", "json").stdout)
        self.assertTrue(report["passed"])
        self.assertEqual(["encode", "decode"], [each["method"] for each in report["methods"]])
        self.assertEqual(1, self.succeed("verify", self.path, self.out, "--method", "decode").stdout.count("passed ("))
        self.succeed("verify", self.path, self.out, "--method", "decode", "--per-op")
        self.fail_with(2, "verify", self.path, self.out, "--method", "forward", needed=["encode, decode"])
        self.fail_with(2, "verify", self.path, self.out, "--per-op", needed=["--method", "encode, decode"])
        text = self.succeed("inspect", self.out).stdout
        self.assertIn("method encode:", text)
        self.assertIn("inputs of decode\n  code: float32[2, 64]", text)
        form = json.loads(self.succeed("inspect", self.out, "--format", "json").stdout)
        self.assertEqual(["encode", "decode"], [each["metadata"]["method"] for each in form["methods"]])
        self.assertEqual(2, self.succeed("inspect", self.out, "--format", "dot").stdout.count("digraph"))
        self.fail_with(2, "inspect", self.out, "--format", "html", needed=["several methods"])

    def test_check(self):
        text = self.succeed("check", self.path, *CODER).stdout
        self.assertIn("method encode converts whole", text)
        report = json.loads(self.succeed("check", self.path, *CODER, "--format", "json").stdout)
        self.assertEqual([("encode", "whole"), ("decode", "whole")],
                         [(each["method"], each["how"]) for each in report["methods"]])
        refused = self.fail_with  # a method that is refused is named
        refused(1, self.path, "--method", "forward", "--input", "2,64", "--fallback", "none",
                "--device-profile", "quant-dsp-8.1",
                "-o", self.out, needed=["method forward: "])

    def test_flexible_sizes(self):
        self.succeed(self.path, "--method", "encode", "--input", "?,64", "-o", self.out)
        self.succeed("verify", self.path, self.out, "--input", "3,64")

    def test_half_precision(self):
        path = self.save(Large())
        told = self.succeed(path, "--method", "encode", "--method", "decode", "--input", "x=2,16", "--relax-fp16",
                            "-o", self.out).stderr
        self.assertIn("encode: --relax-fp16", told)
        self.assertNotIn("decode: --relax-fp16", told)
        self.succeed("verify", path, self.out, "--fp16")

    def test_batch(self):
        models, out = self.folder / "models", self.folder / "converted"
        models.mkdir()
        self.path.rename(models / "model.pt")
        manifest = models / "manifest.json"
        manifest.write_text(json.dumps({"version": 1, "models": [{"model": "model.pt", "options": {
            "method": ["encode", "decode"], "input": ["x=2,64", "code=2,64", "strength=2.0"]}}]}))
        self.succeed("batch", manifest, "-o", out)
        self.assert_same(load(models / "model.pt"), load(out / "model.pt"), "encode", values(1, 2, 64))


class Errors(MethodsTest):
    def setUp(self):
        super().setUp()
        self.path, self.out = self.save(Coder()), self.folder / "out.pt"

    def refuse(self, *arguments, needed, code=2):
        self.fail_with(code, self.path, *arguments, "-o", self.out, needed=needed)
        self.assertFalse(self.out.exists())

    def test_unknown_method(self):
        self.refuse("--method", "encod", needed=["--method encod", "forward, decode, encode"])

    def test_given_twice(self):
        self.refuse("--method", "encode", "--method", "encode", needed=["--method encode: given twice"])

    def test_inputs(self):
        both = ("--method", "encode", "--method", "decode")
        self.refuse(*both, "--input", "2,64", needed=["doesn't say which method", "encode.x="])
        self.refuse(*both, "--input", "encode.code=2,64", needed=["encode.code", "takes such an argument"])
        self.refuse(*both, "--input", "picture=2,64", needed=["picture", "encode, decode"])

    def test_options_for_forward_alone(self):
        for option in (["--bundle-inputs"], ["--calibrate", "random:4"], ["--emit-cpu", str(self.folder / "cpu.pt")],
                       ["--package", "level=3; level=4", "--runtime", "shim"],
                       ["--fallback", "cpu", "--runtime", "shim"], ["--report", str(self.folder / "page.html")]):
            self.refuse("--method", "encode", "--input", "2,64", *option,
                        needed=[option[0], "can't be used with --method"])

    def test_model_without_forward(self):
        path = self.save(OnlyMethods())
        self.fail_with(3, path, "-o", self.out, needed=["no forward method", "--method", "encode"])


if __name__ == "__main__":
    unittest.main()
