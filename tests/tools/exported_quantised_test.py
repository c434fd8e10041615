# SPDX-License-Identifier: BSD-3-Clause
"""Quantised exported programs (.pt2), as PT2E makes them."""

import json
import re
import unittest

import torch

from cli import CliTest, run
from exported_fixtures import EXPORTED, LAYOUTS, tensors
from stock_torch import StockTorchTest, load
from zip_files import entries, stored


class Quantised(CliTest, StockTorchTest):
    """Quantised programs (PT2E): NNAPI's integers, within one step of the program's own, or a float meaning."""
    FOLDER = EXPORTED / "quantised"

    def results(self, layout, name, *options):
        """What the converted program gives, and what PyTorch 2 gave."""
        out = self.convert(self.FOLDER / layout / f"{name}.pt2", "--verify", *options, out=f"{layout}.{name}.pt")
        arguments, _, expected = torch.load(self.FOLDER / layout / f"{name}.results")
        with torch.no_grad():
            found = load(out)(*arguments)
        return list(zip(tensors(found), tensors(expected)))

    def assert_within(self, step, found, expected):
        self.assertEqual(expected.shape, found.shape)
        difference = (expected.float() - found.float()).abs()
        self.assertGreater((expected.max() - expected.min()).item(), 20 * step, "a flat output shows nothing")
        self.assertLessEqual(difference.max().item(), 1.01 * step)

    def operators(self, layout, name):
        dump = run(self.FOLDER / layout / f"{name}.pt2", "--dump-after", "normalise", "-o", self.folder / "out.pt")
        return re.findall(r"= (\w+::\w+)", dump.stdout)

    def test_networks(self):
        """Weights with a scale for each channel get one scale here, which costs up to two steps more."""
        for name, step in (("tensors", 0.0036), ("channels", 0.0087), ("channels_decomposed", 0.0087), ("x86", 0.0087)):
            for layout in ("--nhwc", "--nchw"):
                with self.subTest(name=name, layout=layout):
                    for found, expected in self.results("until_2.7", name, layout):
                        self.assert_within(step, found, expected)

    def test_functions_between_layers_stay_float(self):
        for name in ("gate", "gate_decomposed"):
            with self.subTest(name=name):
                for found, expected in self.results("until_2.7", name):
                    self.assert_within(0.006, found, expected)
                operators = self.operators("until_2.7", name)
                self.assertIn("aten::sin", operators)
                self.assertEqual(3, operators.count("quantized::linear"), operators)

    def test_by_hand(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                pairs = self.results(layout, "upwards", "--fallback=partition")
                for (found, expected), step in zip(pairs, (0.05, 1)):
                    self.assert_within(step, found, expected)
                for found, expected in self.results(layout, "wide", "--fallback=partition"):
                    self.assert_within(0.02, found, expected)
                operators = self.operators(layout, "upwards")
                self.assertIn("quantized::conv1d_relu", operators)
                self.assertIn("quantized::conv_transpose2d", operators)

    def test_no_layer_is_left_float(self):
        operators = self.operators("until_2.7", "tensors")
        self.assertEqual(1, operators.count("quantized::conv2d_relu"), operators)
        self.assertEqual(2, operators.count("quantized::conv2d"), operators)
        for name in ("quantized::add", "quantized::cat", "quantized::linear"):
            self.assertIn(name, operators)
        for name in ("aten::conv2d", "aten::linear", "aten::add", "aten::cat"):
            self.assertNotIn(name, operators)

    def test_dynamic(self):
        """The float model of the rounded weights, with one warning."""
        path = self.FOLDER / "until_2.7" / "dynamic.pt2"
        result = run(path, "-o", self.folder / "out.pt")
        self.assertEqual(0, result.code, str(result))
        self.assertEqual(1, result.stderr.count("quantised dynamically"), str(result))
        for found, expected in self.results("until_2.7", "dynamic"):
            self.assertLess((found - expected).abs().max().item(), 0.01 * (expected.max() - expected.min()).item())


def as_torchao(graph):
    """The program's nodes in the words of torchao, which names blocks in the place of channels and tensors."""
    for node in graph["nodes"]:
        name = node["target"].split(".")[-2]
        if "quantized_decomposed" not in node["target"]:
            continue
        if "choose_qparams" in name:
            node["target"] = "torch.ops.torchao.choose_qparams_affine.default"
            continue
        given = {each["name"]: each["arg"] for each in node["inputs"]}
        sizes = [size["as_int"] for size in graph["tensor_values"][given["input"]["as_tensor"]["name"]]["sizes"]]
        if "axis" in given:
            sizes[given["axis"]["as_int"]] = 1
        if "per_token" in name:
            sizes[:-1] = [1] * (len(sizes) - 1)
        verb = name.split("_")[0]
        node["target"] = f"torch.ops.torchao.{verb}_affine.default"
        arguments = {"input": given["input"], "block_size": {"as_ints": sizes},
                     "scale": given.get("scale", given.get("scales")),
                     "zero_point": given.get("zero_point", given.get("zero_points")),
                     "output_dtype" if verb == "quantize" else "input_dtype": given["dtype"],
                     "quant_min": given["quant_min"], "quant_max": given["quant_max"]}
        node["inputs"] = [{"name": key, "arg": value} for key, value in arguments.items() if value is not None]


class Torchao(CliTest, StockTorchTest):
    """Programs whose nodes are torchao's give what those of PT2E give."""

    def changed(self, name, change):
        content = entries(EXPORTED / "quantised" / "until_2.7" / f"{name}.pt2")
        program = json.loads(content["serialized_exported_program.json"])
        change(program["graph_module"]["graph"])
        content["serialized_exported_program.json"] = json.dumps(program).encode()
        path = self.folder / f"{name}.pt2"
        path.write_bytes(stored(content))
        return path

    def test_networks(self):
        for name in ("tensors", "channels", "dynamic"):
            with self.subTest(name=name):
                plain = self.convert(EXPORTED / "quantised" / "until_2.7" / f"{name}.pt2", out="plain.pt")
                named = self.convert(self.changed(name, as_torchao), out="named.pt")
                arguments, _, _ = torch.load(EXPORTED / "quantised" / "until_2.7" / f"{name}.results")
                with torch.no_grad():
                    expected, found = load(plain)(*arguments), load(named)(*arguments)
                for one, other in zip(tensors(expected), tensors(found)):
                    self.assertGreater((one.max() - one.min()).item(), 0.1)
                    self.assertTrue(torch.equal(one, other))

    def test_refusals(self):
        def of_blocks(graph):
            as_torchao(graph)
            for node in graph["nodes"]:
                if "quantize_affine" in node["target"]:
                    sizes = node["inputs"][1]["arg"]["as_ints"]
                    node["inputs"][1]["arg"]["as_ints"] = [max(1, size // 2) for size in sizes]

        def of_another(graph):
            as_torchao(graph)
            for node in graph["nodes"]:
                node["target"] = node["target"].replace("dequantize_affine", "dequantize_affine_float8")

        for change, found in ((of_blocks, "blocks over parts of several axes"), (of_another, "an operator that has no form")):
            self.fail_with(1, self.changed("channels", change), "-o", self.folder / "out.pt", needed=[found, "torchao"])


class QuantisedFiles(CliTest):
    """Quantised programs that are damaged or have no form: one clear error each."""

    def fail(self, code, change, *needed, name="tensors"):
        content = entries(EXPORTED / "quantised" / "until_2.7" / f"{name}.pt2")
        program = json.loads(content["serialized_exported_program.json"])
        change(program["graph_module"]["graph"]["nodes"])
        content["serialized_exported_program.json"] = json.dumps(program).encode()
        path = self.folder / "changed.pt2"
        path.write_bytes(stored(content))
        self.fail_with(code, path, "-o", self.folder / "out.pt", needed=needed)

    def test_unknown_operator(self):
        def change(nodes):
            nodes[0]["target"] = "torch.ops.quantized_decomposed.embedding_4bit.default"
        self.fail(1, change, "quantized_decomposed.embedding_4bit", "no form in PyTorch 1.13.1")

    def test_missing_argument(self):
        def change(nodes):
            nodes[0]["inputs"] = [each for each in nodes[0]["inputs"] if each["name"] != "input"]
        self.fail(3, change, "dequantize_per_tensor", "argument input is missing")

    def test_range_of_each_call_is_read(self):
        def change(nodes):
            chosen = next(node for node in nodes if "choose_qparams" in node["target"])
            name = chosen["outputs"][0]["as_tensor"]["name"]
            linear = next(node for node in nodes if "aten.linear" in node["target"])
            linear["inputs"][0]["arg"] = {"as_tensor": {"name": name}}
        self.fail(1, change, "dynamic quantisation", "export the float model", name="dynamic")

    def test_scale_that_is_no_number(self):
        def change(nodes):
            for node in nodes:
                for each in node["inputs"]:
                    if each["name"] == "scale":
                        each["arg"] = {"as_float": "NaN"}
        self.fail(3, change, "a scale")


if __name__ == "__main__":
    unittest.main()
