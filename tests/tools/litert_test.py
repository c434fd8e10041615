# SPDX-License-Identifier: BSD-3-Clause
"""`--litert`: the file beside or without out.pt, what is refused, `check --litert`, `inspect`, and `verify` by LiteRT itself."""

import json
import unittest

import jsonschema
import numpy
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


class Camera(nn.Module):
    """Takes bytes, as a camera gives them, and gives a mask of bytes, which NNAPI doesn't."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        return self.conv(x.float() / 255).argmax(1).to(torch.uint8)


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


def ports(path, folder):
    """The names and tensors of the first signature's inputs and outputs."""
    shown = json.loads(run("inspect", path, "--format", "json", cwd=folder).stdout)
    signature = shown["signatures"][0]
    tensors = shown["subgraphs"][signature["subgraph"]]["tensors"]
    return [[(port["name"], tensors[port["tensor"]]) for port in signature[side]] for side in ("inputs", "outputs")]


class Unread(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, mask, image, flag, scale):
        return self.conv(image) * scale, mask


class Attention(nn.Module):
    """A tensor of four axes that is no image."""

    def forward(self, heads):
        return torch.softmax(heads, 3) @ heads.transpose(2, 3)


class Interface(LitertTest):
    def test_alone_it_is_nhwc(self):
        made = run(self.small(), "--input", "1,3,9,8", "--litert", "out.tflite", cwd=self.folder)
        self.assertEqual(made.code, 0, made)
        inputs, outputs = ports("out.tflite", self.folder)
        self.assertEqual([1, 9, 8, 3], inputs[0][1]["shape"])
        self.assertEqual([1, 9, 8, 3], dict(outputs)["image"]["shape"])

    def test_a_tensor_of_four_axes_that_is_no_image_stays(self):
        model = self.saved(Attention(), torch.rand(1, 2, 3, 5))
        made = run(model, "--input", "1,2,3,5", "--litert", "out.tflite", cwd=self.folder)
        self.assertEqual(made.code, 0, made)
        self.assertEqual([1, 2, 3, 5], ports("out.tflite", self.folder)[0][0][1]["shape"])
        self.assertEqual([1, 2, 3, 3], ports("out.tflite", self.folder)[1][0][1]["shape"])

    def test_the_name_of_the_output_tells(self):
        model = self.small()
        for options in (["-o", "out.tflite"], ["--litert", "other.tflite"]):
            made = run(model, "--input", "1,3,9,9", *options, cwd=self.folder)
            self.assertEqual(made.code, 0, made)
        self.assertEqual((self.folder / "out.tflite").read_bytes(), (self.folder / "other.tflite").read_bytes())

    def unread(self):
        model = self.saved(Unread(), torch.rand(1, 7), torch.rand(1, 3, 9, 9), torch.tensor([True]), torch.rand(1))
        made = run(model, "--input", "1,7", "--input", "1,3,9,9", "--input", "1:bool", "--input", "1", "--litert",
                   "out.tflite", cwd=self.folder)
        self.assertEqual(made.code, 0, made)
        return model

    def test_arguments_that_no_operation_reads_are_there_in_order(self):
        self.unread()
        inputs, outputs = ports("out.tflite", self.folder)
        self.assertEqual([("mask", [1, 7]), ("image", [1, 9, 9, 3]), ("flag", [1]), ("scale", [1])],
                         [(name, tensor["shape"]) for name, tensor in inputs])
        self.assertEqual("int32", inputs[2][1]["type"])
        self.assertEqual([[1, 7, 7, 4], [1, 7]], [tensor["shape"] for _, tensor in outputs])

    @unittest.skipIf(litert.missing(), litert.missing())
    def test_litert_takes_arguments_that_no_operation_reads(self):
        result = run("verify", self.unread(), "out.tflite", cwd=self.folder)
        self.assertEqual(result.code, 0, result)


class Quantised(LitertTest):
    """Files by data keep LiteRT's quantisation specification: CliTest checks each when a test ends."""

    def uneven(self):
        """Weights whose range is far from symmetric."""
        model = Small()
        with torch.no_grad():
            for layer in (model.conv, model.head):
                layer.weight += 0.3 * layer.weight.abs().max()
        return self.saved(model, torch.rand(1, 3, 9, 9))

    def made(self, *options):
        made = self.convert(self.uneven(), "--calibrate", "random:16", *options)
        self.assertEqual(made.code, 0, made)
        return json.loads(run("inspect", "out.tflite", "--format", "json", cwd=self.folder).stdout)["subgraphs"][0]

    def weights(self, graph, name):
        each = next(each for each in graph["operators"] if each["name"] == name)
        return graph["tensors"][each["inputs"][1]]

    def test_alone_its_weights_are_symmetric(self):
        graph = self.made("--quant", "full", "--litert", "out.tflite")
        weights = self.weights(graph, "FULLY_CONNECTED")
        self.assertEqual(("int8", [0]), (weights["type"], weights["zero_points"]))
        self.assertEqual(8, len(self.weights(graph, "CONV_2D")["scales"]))
        self.assertNotIn("QUANTIZE", [each["name"] for each in graph["operators"]])

    def test_beside_another_weights_that_are_not_stay_uint8(self):
        graph = self.made("-o", "out.pt", "--litert", "out.tflite")
        for name in ("CONV_2D", "FULLY_CONNECTED"):
            weights = self.weights(graph, name)
            self.assertEqual(("uint8", True), (weights["type"], weights["zero_points"] != [128]))

    def test_uint8_with_a_scale_for_each_channel_is_at_the_edges(self):
        self.made("--quant", "full", "--litert", "out.tflite", "--litert-uint8")
        inputs, outputs = ports("out.tflite", self.folder)
        self.assertEqual(["uint8"] * 3, [tensor["type"] for _, tensor in inputs + outputs])
        made = self.convert(self.uneven(), "--calibrate", "random:16", "--quant", "full", "--litert", "out.tflite",
                            "--litert-uint8")
        self.assertIn("all between them is int8", made.stderr)

    @unittest.skipIf(litert.missing(), litert.missing())
    def test_litert_runs_them(self):
        numpy.save(self.folder / "samples.npy", torch.rand(40, 3, 9, 9).numpy())
        for options in ([], ["--litert-uint8"], ["-o", "out.pt"]):
            with self.subTest(options=options):
                made = self.convert(self.uneven(), "--calibrate", "samples.npy", "--quant", "full", "--litert",
                                    "out.tflite", "--verify", *options)
                self.assertEqual(made.code, 0, made)
                self.assertIn("passed", made.stdout)


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

    def test_names_of_other_formats(self):
        model = self.small()
        for name, text in (("out.onnx", "ONNX"), ("OUT.ONNX", "ONNX"), ("out.pte", "ExecuTorch"), ("out.mlmodel", "Core ML")):
            self.refused(self.convert(model, "-o", name), text, 2)
            self.assertFalse((self.folder / name).exists())
        self.refused(self.convert(model, "-o", "out.tflite", "--litert", "other.tflite"), "--litert", 2)

    def test_steps_on_the_cpu_are_refused_with_the_first(self):
        model = self.saved(Detached(), torch.rand(3, 3))
        result = run(model, "--input", "3,3", "--litert", "out.tflite", "-o", "out.pt", cwd=self.folder)
        self.refused(result, "aten::svd")

    def test_the_first_step_is_the_models_own(self):
        """Bytes become quint8 by a step that the converter adds."""
        model = self.saved(Camera(), torch.zeros(1, 3, 9, 9, dtype=torch.uint8))
        result = run(model, "--input", "1,3,9,9:uint8", "--litert", "out.tflite", cwd=self.folder)
        self.refused(result, "2 steps on the CPU, the first is aten::to at ")

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
            (self.folder / "cut").write_bytes(whole[:size])
            result = run("inspect", "cut", cwd=self.folder)
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
        self.assertIn("scripts/install-litert.sh", result.stderr)
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
                (self.folder / "wrong").write_bytes(whole.replace(right, wrong))
                result = run("verify", "model.pt", "wrong", cwd=self.folder)
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
