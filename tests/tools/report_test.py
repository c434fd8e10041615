# SPDX-License-Identifier: BSD-3-Clause
"""--report: JSON by the schema, for a conversion, a refusal and a verification."""

import json
import unittest

import jsonschema

from cli import ROOT, CliTest, run

SCHEMA = json.loads((ROOT / "schemas" / "report.schema.json").read_text())


class Report(CliTest):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "report.json"
        self.out = self.folder / "out.pt"

    def valid(self, text: str) -> dict:
        report = json.loads(text)
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        return report

    def report_of(self, name: str, *arguments, code=0) -> dict:
        result = run(self.fixture(name), *arguments, "-o", self.out, "--report", self.path)
        self.assertEqual(code, result.code, f"\n{result}")
        return self.valid(self.path.read_text())

    def test_schema_itself(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        self.assertEqual([], [name for name in SCHEMA["required"] if name not in SCHEMA["properties"]])

    def test_conversion(self):
        report = self.report_of("residual.pt", "--input", "1,3,16,16", "--nhwc")
        self.assertTrue(report["converted"])
        self.assertEqual([str(self.fixture("residual.pt")), str(self.out)], [report["model"], report["output"]])
        self.assertEqual("none", report["quant"])
        self.assertEqual([{"name": "picture", "dtype": "float32", "shape": [1, 3, 16, 16], "source": "option"}],
                         report["inputs"])
        self.assertEqual(report["operation_count"], sum(report["operations"].values()))
        self.assertEqual({"CONV_2D": 3, "ADD": 1}, report["operations"])
        filters = sum(4 * 8 * channels * 9 for channels in (3, 8, 8))  # biases are small: they are in the buffer
        self.assertEqual(filters, report["weight_bytes"])
        self.assertEqual(([], []), (report["refusals"], report["warnings"]))
        self.assertNotIn("verification", report)

    def test_agrees_with_inspect(self):
        report = self.report_of("depthwise.pt", "--input", "1,3,16,16", "--nhwc")
        inspected = json.loads(self.succeed("inspect", self.out, "--format", "json").stdout)
        self.assertEqual(inspected["operation_count"], report["operation_count"])
        self.assertEqual(inspected["metadata"]["feature_level"], report["feature_level"])

    def test_flexible_sizes_are_expressions(self):
        shape = self.report_of("depthwise.pt", "--input", "?,3,?,?", "--nhwc")["inputs"][0]["shape"]
        self.assertEqual(3, shape[1])
        self.assertEqual([str, int, str, str], [type(size) for size in shape])

    def test_quantised_input(self):
        report = self.report_of("quant.pt", "--nhwc", "--quant", "full")
        self.assertEqual("full", report["quant"])
        self.assertEqual("quint8", report["inputs"][0]["dtype"])
        self.assertAlmostEqual(0.0315, report["inputs"][0]["scale"], places=3)
        self.assertEqual(131, report["inputs"][0]["zero_point"])

    def test_warnings_are_those_on_stderr(self):
        result = run(self.fixture("bundled.pt"), "--min-segment-macs", "0", "-o", self.out, "--report", self.path)
        report = self.valid(self.path.read_text())
        self.assertEqual(1, len(report["warnings"]))
        self.assertEqual(f"nnapi-convert: warning: {report['warnings'][0]}\n", result.stderr)

    def test_all_refusals_with_source_lines(self):
        report = self.report_of("refused.pt", "--input", "1,3,16,16", "--nhwc", code=1)
        self.assertFalse(report["converted"])
        self.assertNotIn("output", report)
        self.assertIn("2 operations", report["error"])
        self.assertEqual(["aten::linalg_matrix_exp", "aten::linalg_matrix_exp"], [entry["op"] for entry in report["refusals"]])
        where = [entry["where"] for entry in report["refusals"]]
        self.assertEqual(2, len(set(where)))
        for place in where:
            self.assertRegex(place, r"scripts/models/small_nets\.py:\d+")
        for entry in report["refusals"]:
            self.assertTrue(entry["found"] and entry["hint"])
        self.assertFalse(self.out.exists())

    def test_refused_as_a_whole(self):
        report = self.report_of("no_operations.pt", "--input", "1,3,16,16", "--nhwc", code=1)
        self.assertFalse(report["converted"])
        self.assertIn("nothing is left", report["error"])

    def test_verification(self):
        report = self.report_of("tuple_output.pt", "--input", "1,3,16,16", "--nhwc", "--verify")
        verification = report["verification"]
        self.assertTrue(verification["passed"])
        self.assertEqual(4, verification["samples"])
        self.assertEqual(2, len(verification["outputs"]))
        for output in verification["outputs"]:
            self.assertLess(output["relative_error"], 1e-4)
            self.assertFalse(output["is_constant"])

    def test_to_stdout_alone(self):
        result = run(self.fixture("bundled.pt"), "--nhwc", "-o", self.out, "--report", "-")
        self.assertEqual(0, result.code)
        self.assertTrue(self.valid(result.stdout)["converted"])

    def test_refusal_to_stdout(self):
        result = run(self.fixture("refused.pt"), "--input", "1,3,16,16", "-o", self.out, "--report", "-")
        self.assertEqual(1, result.code)
        self.assertEqual(2, len(self.valid(result.stdout)["refusals"]))

    def test_verification_to_stdout_leaves_json_alone_there(self):
        result = run(self.fixture("bundled.pt"), "--nhwc", "--verify", "-o", self.out, "--report", "-")
        self.assertEqual(0, result.code)
        self.assertTrue(self.valid(result.stdout)["verification"]["passed"])

    def test_same_report_each_time(self):
        texts = []
        for _ in range(2):
            self.report_of("depthwise.pt", "--input", "1,3,16,16", "--nhwc", "--verify")
            texts.append(self.path.read_text())
        self.assertEqual(texts[0], texts[1])


if __name__ == "__main__":
    unittest.main()
