# SPDX-License-Identifier: BSD-3-Clause
"""inspect and ops: their text, JSON and Markdown forms agree with each other and with what was asked for."""

import collections
import json
import re
import unittest

from cli import ROOT, CliTest

IMAGE = ["--input", "1,3,16,16"]


class Inspect(CliTest):
    def json_form(self, path):
        return json.loads(self.succeed("inspect", path, "--format", "json").stdout)

    def test_text_and_json_agree(self):
        path = self.convert("depthwise.pt", *IMAGE, "--nhwc")
        text, form = self.succeed("inspect", path).stdout, self.json_form(path)
        counts = {name: int(count) for count, name in re.findall(r"^ +(\d+)  ([A-Z0-9_]+)$", text, re.MULTILINE)}
        self.assertEqual(collections.Counter(operation["name"] for operation in form["operations"]), counts)
        self.assertEqual(form["operation_count"], sum(counts.values()))
        self.assertIn(f"\n{form['operation_count']} operations\n", text)

    def test_operands_are_numbered_in_range(self):
        form = self.json_form(self.convert("ceil_pools.pt", "--input", "1,3,18,18", "--nhwc"))
        numbers = [number for operation in form["operations"] for number in operation["inputs"] + operation["outputs"]]
        self.assertTrue(all(0 <= number < len(form["operands"]) for number in numbers))
        self.assertEqual([1, 18, 18, 3], form["operands"][form["inputs"][0]]["dimensions"])
        written = {number for operation in form["operations"] for number in operation["outputs"]}
        self.assertTrue(set(form["outputs"]) <= written)

    def test_layout(self):
        for option, dimensions in {"--nhwc": [1, 16, 16, 3], "--nchw": [1, 3, 16, 16]}.items():
            form = self.json_form(self.convert("residual.pt", *IMAGE, option))
            self.assertEqual(dimensions, form["operands"][form["inputs"][0]]["dimensions"])
            self.assertEqual(option == "--nhwc", form["metadata"]["inputs"][0]["nhwc"])

    def test_no_transpose(self):
        for name in ("residual.pt", "depthwise.pt", "tuple_output.pt", "scripted.pt"):
            for option in ("--nhwc", "--nchw"):
                form = self.json_form(self.convert(name, *IMAGE, option))
                self.assertNotIn("TRANSPOSE", [operation["name"] for operation in form["operations"]])

    def test_fused(self):
        """Batch norms and activations leave no operation of their own."""
        for name, expected in {"three_operations.pt": ["CONV_2D", "MAX_POOL_2D"], "conv_bn_relu6.pt": ["CONV_2D"],
                               "residual.pt": ["CONV_2D", "CONV_2D", "CONV_2D", "ADD"]}.items():
            form = self.json_form(self.convert(name, *IMAGE, "--nhwc"))
            self.assertEqual(expected, [operation["name"] for operation in form["operations"]])

    def test_quantised(self):
        form = self.json_form(self.convert("quant.pt", "--nhwc", "--quant", "full"))
        self.assertEqual("full", form["metadata"]["quant"])
        types = {form["operands"][number]["type"] for number in form["inputs"] + form["outputs"]}
        self.assertEqual({"TENSOR_QUANT8_ASYMM"}, types)

    def test_subgraphs(self):
        path = self.convert("control_flow.pt", *IMAGE, "--nhwc", "--runtime", "shim", "--feature-level", "4",
                            "--control-flow", "nnapi")
        form = self.json_form(path)
        (branch,) = [operation for operation in form["operations"] if operation["name"] == "IF"]
        self.assertEqual([1, 2], [form["operands"][number]["subgraph"] for number in branch["inputs"][1:3]])
        self.assertEqual(2, len(form["subgraphs"]))
        text = self.succeed("inspect", path).stdout
        for number, subgraph in enumerate(form["subgraphs"], 1):
            self.assertEqual(1, [operation["name"] for operation in subgraph["operations"]].count("CONV_2D"))
            self.assertIn(f"\nsubgraph {number}: {len(subgraph['operations'])} operation", text)
        self.assertEqual([], self.json_form(self.convert("residual.pt", *IMAGE, "--nhwc"))["subgraphs"])

    def test_lite(self):
        for suffix in ("pt", "ptl"):
            self.convert("residual.pt", *IMAGE, "--nhwc", out=f"out.{suffix}")
        self.assertEqual(*[self.json_form(self.folder / f"out.{suffix}") for suffix in ("pt", "ptl")])


class Ops(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        from cli import run

        cls.text = run("ops").stdout
        cls.form = json.loads(run("ops", "--format", "json").stdout)
        cls.markdown = run("ops", "--format", "markdown").stdout

    def test_json(self):
        self.assertGreater(len(self.form), 30)
        for entry in self.form:
            self.assertEqual({"operator", "schema", "feature_level", "note"}, set(entry))
            self.assertTrue(entry["schema"].startswith(entry["operator"] + "("))
            self.assertIn(entry["feature_level"], range(1, 9))
        names = [entry["operator"] for entry in self.form]
        self.assertEqual(sorted(names), names)
        self.assertEqual(len(set(names)), len(names))

    def test_text(self):
        lines = self.text.splitlines()
        self.assertEqual([entry["operator"] for entry in self.form], [line.split()[0] for line in lines])
        for line in lines:
            self.assertRegex(line, r"^\S+ +level [1-8]( |$)")

    def test_markdown(self):
        rows = re.findall(r"^\| `([^`]+)` \| (\d) \|", self.markdown, re.MULTILINE)
        self.assertEqual([(entry["operator"], str(entry["feature_level"])) for entry in self.form], rows)

    def test_the_guide_is_fresh(self):
        self.assertEqual((ROOT / "docs" / "generated" / "supported-ops.md").read_text(), self.markdown)

    def test_schemas_are_pytorchs(self):
        import torch
        import torchvision  # registers its operators

        self.assertTrue(torchvision.__version__)
        known = {str(schema) for schema in torch._C._jit_get_all_schemas()}
        self.assertEqual([], [entry["schema"] for entry in self.form if entry["schema"] not in known])


if __name__ == "__main__":
    unittest.main()
