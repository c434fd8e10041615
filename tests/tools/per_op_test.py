# SPDX-License-Identifier: BSD-3-Clause
"""verify --per-op: every value on the way is compared with TorchScript's, and an altered weight is found where it
is."""

import json
import pathlib

import torch

from block_models import MODELS, line_of
from cli import CliTest, run

METADATA = "nnapi_convert.json"
IMAGE = ["--input", "1,3,16,16", "--nhwc"]


class PerOp(CliTest):
    def check(self, model, out, *arguments, code=0):
        result = run("verify", model, out, "--per-op", "--format", "json", *arguments)
        self.assertEqual(code, result.code, f"\n{result}")
        return json.loads(result.stdout)

    def converted(self, name, *arguments):
        model = self.fixture(name)
        return model, self.convert(name, *arguments)

    def altered(self, path: pathlib.Path, segment, number: int, by: float) -> pathlib.Path:
        """A copy whose weights, tensor `number`, are others; segment None is a model that NNAPI runs whole."""
        extra = {METADATA: ""}
        module = torch.jit.load(str(path), _extra_files=extra)
        part = module if segment is None else getattr(module, f"segment_{segment}")
        weights = part.weights[number]
        if weights.dtype == torch.uint8:
            weights.view(-1)[: weights.numel() // 2] = 255 - weights.view(-1)[: weights.numel() // 2]
        else:
            weights.view(-1)[0] += by * weights.abs().max()
        out = self.folder / "altered.pt"
        torch.jit.save(module, str(out), _extra_files=extra)
        return out

    def assert_first(self, check, segment, operation):
        first = check["values"][check["first_drift"]]
        self.assertEqual((segment, operation), (first["segment"], first["operation"]))
        self.assertTrue(first["drifts"])
        return first

    def assert_agrees(self, check, count):
        self.assertIsNone(check["first_drift"])
        self.assertEqual([], check["unchecked"])
        self.assertEqual(count, len(check["values"]))
        for value in check["values"]:
            self.assertLess(value["lowest"], value["highest"])


class WholeModels(PerOp):
    def test_agrees(self):
        for options in ([], ["--runtime", "shim"]):
            model, out = self.converted("residual.pt", *IMAGE, *options)
            check = self.check(model, out)
            self.assert_agrees(check, 4)
            self.assertEqual(["CONV_2D", "CONV_2D", "CONV_2D", "ADD"],
                             [value["operations"][-1] for value in check["values"]])
            for value in check["values"]:
                self.assertRegex(value["where"], r"\.py:\d+\)?$")

    def test_names_the_operation(self):
        model, out = self.converted("residual.pt", *IMAGE)
        for number in range(3):
            check = self.check(model, self.altered(out, None, number, 0.5), code=4)
            first = self.assert_first(check, 0, number)
            self.assertEqual(["CONV_2D"], first["operations"])
            self.assertEqual(1, sum(value["drifts"] for value in check["values"]))  # the others are right by themselves
            self.assertGreater(check["values"][-1]["error"], 1e-4)  # though what they give is not

    def test_text(self):
        model, out = self.converted("residual.pt", *IMAGE)
        altered = self.altered(out, None, 1, 0.5)
        result = run("verify", model, altered, "--per-op")
        self.assertEqual(4, result.code)
        self.assertRegex(result.stdout,
                         r"first to drift: segment 0, operation 1 \(CONV_2D\) from .*\.py:\d+\)?: its own error is "
                         r"\S+ \(of range\), at most 0\.0001 needed")
        self.assertIn("no operation drifts by itself", self.succeed("verify", model, out, "--per-op").stdout)

    def test_tolerance(self):
        model, out = self.converted("residual.pt", *IMAGE)
        altered = self.altered(out, None, 1, 0.5)
        self.assertIsNone(self.check(model, altered, "--tolerance", "10")["first_drift"])

    def test_quantised(self):
        for mode in ("core", "full", "nnapi"):
            model, out = self.converted("quant.pt", "--nhwc", "--quant", mode)
            check = self.check(model, out)
            self.assertIsNone(check["first_drift"], mode)
            self.assertIn("quanta", [value["unit"] for value in check["values"]])
            self.assert_first(self.check(model, self.altered(out, None, 0, 0), code=4), 0,
                              next(value["operation"] for value in check["values"] if "CONV_2D" in value["operations"]))

    def test_flexible_sizes(self):
        for options in ([], ["--runtime", "shim"]):
            model, out = self.converted("depthwise.pt", "--input", "1,3,?,?", "--nhwc", *options)
            check = self.check(model, out, "--input", "1,3,24,16")
            self.assertIsNone(check["first_drift"])
            self.assertGreater(len(check["values"]), 1)

    def test_control_flow(self):
        model, out = self.converted("control_flow.pt", *IMAGE, "--runtime", "shim", "--feature-level", "4",
                                    "--control-flow", "nnapi")
        check = self.check(model, out)
        self.assertIsNone(check["first_drift"])
        self.assertTrue({"IF", "WHILE"} & {name for value in check["values"] for name in value["operations"]})

    def test_another_original(self):
        _, out = self.converted("residual.pt", *IMAGE)
        self.fail_with(3, "verify", self.fixture("depthwise.pt"), out, "--per-op", needed=["another NNAPI model"])

    def test_options_are_recorded(self):
        """The second conversion of the original uses all options that shape the NNAPI model."""
        for options in (["--nchw"], ["--nhwc", "--disable-pass", "fuse_activation", "--disable-pass", "fold_affine"],
                        ["--nhwc", "--feature-level", "5"]):
            model, out = self.converted("conv_bn_relu6.pt", "--input", "1,3,16,16", *options)
            self.assertIsNone(self.check(model, out)["first_drift"])


class InParts(PerOp):
    OPTIONS = [*IMAGE, "--min-segment-macs", "0"]

    def test_agrees(self):
        for options in ([], ["--runtime", "shim", "--needs-pytorch"]):
            model, out = self.converted("unknown_operations.pt", *self.OPTIONS, *options)
            check = self.check(model, out)
            self.assertIsNone(check["first_drift"])
            self.assertLess(1, len({value["segment"] for value in check["values"]}))

    def test_names_the_segment(self):
        model, out = self.converted("unknown_operations.pt", *self.OPTIONS)
        segments = json.loads(self.succeed("inspect", out, "--format", "json").stdout)["segments"]
        with_weights = [i for i, segment in enumerate(segments)
                        if any("CONV" in op["name"] for op in segment["operations"])]
        self.assertTrue(with_weights)
        segment = with_weights[-1]
        first = self.assert_first(self.check(model, self.altered(out, segment, 0, 0.5), code=4), segment,
                                  next(i for i, op in enumerate(segments[segment]["operations"])
                                       if "CONV" in op["name"]))
        self.assertIn("CONV_2D", first["operations"])


class InBlocks(PerOp):
    """Segments in branches and loops, in each of their runs."""

    SHAPE = ["--input", "1,4,8,8", "--nhwc", "--min-segment-macs", "0"]

    def converted_blocks(self, model, *options):
        torch.manual_seed(0)
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(MODELS[model]().eval()).save(str(path))
        self.succeed(path, *self.SHAPE, *options, "-o", out)
        return path, out

    def test_agrees_in_each_run(self):
        for options in ([], ["--runtime", "shim"]):
            check = self.check(*self.converted_blocks("Ways", *options))
            self.assertIsNone(check["first_drift"])
            self.assertEqual([], check["unchecked"])
            self.assertEqual(set(range(7)), {value["segment"] for value in check["values"]})
            runs = {value["segment"]: value["runs"] for value in check["values"]}
            self.assertEqual(check["samples"], runs[0])
            self.assertEqual(runs[2], runs[3] + runs[6])  # each round takes one of the branches
            self.assertGreater(runs[5], runs[3])
            inside = {value["segment"]: [place["kind"] for place in value.get("inside", [])]
                      for value in check["values"]}
            self.assertEqual([[], ["loop", "if", "loop"], ["loop", "else"]], [inside[0], inside[5], inside[6]])

    def test_what_changes_in_place(self):
        for name in ("CarriedView", "ChangedByRounds", "ViewChanged", "Rounds", "FilledInLoop", "Turned"):
            with self.subTest(model=name):
                check = self.check(*self.converted_blocks(name))
                self.assertIsNone(check["first_drift"])
                self.assertGreater(len(check["values"]), 2)

    def test_names_the_segment_in_a_loop(self):
        model, out = self.converted_blocks("Ways")
        for segment in (3, 5, 6):
            first = self.assert_first(self.check(model, self.altered(out, segment, 0, 0.5), code=4), segment, 0)
            self.assertIn("CONV_2D", first["operations"])
        result = run("verify", model, self.altered(out, 5, 0, 0.5), "--per-op")
        self.assertRegex(result.stdout, rf"CONV_2D .*, in the loop at {line_of('for i in')}, .*  <- drifts")

    def test_says_what_never_runs(self):
        check = self.check(*self.converted_blocks("SeldomRun"))
        self.assertRegex("\n".join(check["unchecked"]), r"segment \d, in the if at .*: it doesn't run in these samples")
        self.assertIsNone(check["first_drift"])

    def test_says_how_many_rounds_are_left_out(self):
        check = self.check(*self.converted_blocks("ManyRounds"), "--samples", "2")
        self.assertEqual([32], [value["runs"] for value in check["values"]
                                if value.get("inside") and value["operations"][-1] == "CONV_2D"])
        self.assertRegex("\n".join(check["unchecked"]),
                         r"in the loop at .*: 28 runs, those after the first 16 in a sample")

    def test_calls_for_rows(self):
        """Compares each call of a segment for some rows; the last call is filled up."""
        model, out = self.converted_blocks("Rows", "--rows-per-call", "3")
        check = self.check(model, out)
        self.assertIsNone(check["first_drift"])
        self.assertEqual([], check["unchecked"])
        rows = [value for value in check["values"] if value["operations"][-1] == "FULLY_CONNECTED"]
        self.assertEqual(1, len(rows))
        self.assertGreater(rows[0]["runs"], check["samples"])
        self.assert_first(self.check(model, self.altered(out, rows[0]["segment"], 0, 0.5), code=4), rows[0]["segment"],
                          rows[0]["operation"])


if __name__ == "__main__":
    import unittest
    unittest.main()
