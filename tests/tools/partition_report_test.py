# SPDX-License-Identifier: BSD-3-Clause
"""What reports say of partitioned models: where segments are, what can't be counted, and why a node stays on the
CPU."""

import json
import unittest
import warnings

import jsonschema
import torch
import torch.utils.bundled_inputs

from block_models import MODELS, line_of
from cli import ROOT
from page import Page, read_page
from scripted_model import ScriptedModelTest

SHAPE = ("--input", "1,4,8,8", "--nhwc", "--min-segment-macs", "0")
SCHEMAS = {name: json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text()) for name in ("report", "check")}


class Partitioned(ScriptedModelTest):
    models = MODELS

    def setUp(self):
        super().setUp()
        self.page = self.folder / "report.html"

    def convert_model(self, model, *arguments):
        """Returns the report and the messages."""
        self.save(model)
        said = self.succeed(self.path, *(arguments or SHAPE), "-o", self.out, "--report", self.page).stderr
        report = read_page(self.page).report
        jsonschema.Draft202012Validator(SCHEMAS["report"]).validate(report)
        return report, said

    def check_report(self, *arguments):
        report = json.loads(self.succeed("check", self.path, *(arguments or SHAPE), "--format", "json").stdout)
        jsonschema.Draft202012Validator(SCHEMAS["check"]).validate(report)
        return report


def short(places):
    return [(place["kind"], place["where"].split("/")[-1]) for place in places]


def around(graph, step):
    """Returns the branches and loops around a step, the outermost first."""
    places, number = [], step.get("block")
    while number is not None:
        places.insert(0, (graph["blocks"][number]["kind"], graph["blocks"][number]["where"].split("/")[-1]))
        number = graph["blocks"][number].get("parent")
    return places


class Places(Partitioned):
    def setUp(self):
        super().setUp()
        self.loop = ("loop", line_of("for i in"))
        self.branch, self.other = (kind + (line_of("if bool(y.mean"),) for kind in (("if",), ("else",)))
        self.inner = ("loop", line_of("for _ in range(2"))
        self.expected = [[], [], [self.loop], [self.loop, self.branch], [self.loop, self.branch],
                         [self.loop, self.branch, self.inner], [self.loop, self.other]]

    def test_json_and_text(self):
        report, said = self.convert_model("Ways")
        self.assertEqual(self.expected, [short(part.get("inside", [])) for part in report["partition"]["segments"]])
        self.assertRegex(said, rf"\n  5 .*  in the loop at {self.loop[1]}, in the if at {self.branch[1]}, "
                               rf"in the loop at {self.inner[1]}\n")
        self.assertRegex(said, rf"\n  6 .*  in the loop at {self.loop[1]}, in the else of {self.other[1]}\n")

    def test_check(self):
        self.save("Ways")
        self.assertEqual(self.expected, [short(part.get("inside", [])) for part in self.check_report()["segments"]])
        said = self.succeed("check", self.path, *SHAPE).stdout
        self.assertRegex(said, rf"\n  6 .*  in the loop at {self.loop[1]}, in the else of {self.other[1]}\n")

    def test_inspect(self):
        self.convert_model("Ways")
        form = json.loads(self.succeed("inspect", self.out, "--format", "json").stdout)
        self.assertEqual(self.expected, [short(part.get("inside", [])) for part in form["segments"]])
        self.assertIn(f"segment 6, in the loop at {self.loop[1]}, in the else of {self.other[1]}\n",
                      self.succeed("inspect", self.out).stdout)

    def test_graphs(self):
        report, _ = self.convert_model("Ways")
        shown = Page(self.succeed("inspect", self.out, "--format", "html").stdout).report
        jsonschema.Draft202012Validator(SCHEMAS["report"]).validate(shown)
        for graph in (report["graph"], shown["graph"]):
            self.assertEqual(["loop", "if", "loop", "else"], [block["kind"] for block in graph["blocks"]])
            places = {step["segment"]: around(graph, step) for step in graph["steps"] if step["segment"] is not None}
            self.assertEqual(self.expected, [places[number] for number in range(len(self.expected))])
            for number, part in enumerate(report["partition"]["segments"]):
                nodes = next(step["nodes"] for step in graph["steps"] if step["segment"] == number)
                self.assertEqual(part["operation_count"], len(nodes))
            for block in graph["blocks"]:
                kind = graph["steps"][block["step"]]["nodes"][-1]["op"]
                self.assertEqual("prim::Loop" if block["kind"] == "loop" else "prim::If", kind)
            self.check_made_before(graph)

    def check_made_before(self, graph):
        """Checks that each value is made before segments read it, or is the state of a loop, and that a block's results
        are made in the block or before it."""
        made = set(graph["inputs"]) | {i for i, value in enumerate(graph["values"]) if "constant" in value}
        for block in graph["blocks"]:
            made |= {inner for _, inner in block["inputs"]}
        for step in graph["steps"]:
            self.assertTrue({outer for outer, _ in step.get("inputs", [])} <= made)
            made |= {value for node in step["nodes"] for value in node["outputs"]}
            made |= {outer for outer, _ in step.get("outputs", [])}
        for block in graph["blocks"]:
            self.assertTrue({inner for _, inner in block["outputs"]} <= made)
        self.assertTrue(set(graph["outputs"]) <= made)

    def test_branches_without_segments_are_nodes(self):
        report, _ = self.convert_model("BranchOfTheCpu")
        graph = report["graph"]
        self.assertNotIn("blocks", graph)
        branch = next(node for step in graph["steps"] for node in step["nodes"] if node["op"] == "prim::If")
        self.assertGreater(branch["inside"], 0)

    def test_calls_for_rows_are_shown(self):
        self.convert_model("Rows", "--input", "1,4,8,8", "--nhwc", "--min-segment-macs", "0")
        shown = Page(self.succeed("inspect", self.out, "--format", "html").stdout).report
        form = json.loads(self.succeed("inspect", self.out, "--format", "json").stdout)
        self.assertEqual(set(range(len(form["segments"]))),
                         {step["segment"] for step in shown["graph"]["steps"] if step["segment"] is not None})


class Uncounted(Partitioned):
    def test_by_number_where_sizes_are_unknown(self):
        report, said = self.convert_model("HalfKnown")
        partition = report["partition"]
        self.assertEqual({"nnapi": 1, "all": 4, "uncounted": 3, "unknown_operators": 0, "counts_rounds": False},
                         partition["products"])
        self.assertIsNone(partition["mac_share"])
        self.assertEqual(1, partition["counted_mac_share"])
        self.assertEqual(1, sum(part["products"] for part in partition["segments"]))
        self.assertIn("with 1 of 4 convolutions and products, 100.0 % of the multiply-adds that can be counted go to "
                      "NNAPI", said)
        self.assertIn("; not counted: 3 on the CPU whose sizes aren't known before the model runs", said)
        self.assertEqual(partition["products"], self.check_report()["products"])
        self.assertIn("with 1 of 4 convolutions and products, 100.0 % of the multiply-adds that can be counted; not "
                      "counted: 3 on the CPU whose sizes aren't known", self.succeed("check", self.path, *SHAPE).stdout)

    def test_speed_is_not_told_from_what_is_counted_alone(self):
        self.save("HalfKnown")
        self.assertIn("3 of 4 convolutions and products stay on the CPU and can't be counted",
                      self.succeed("check", self.path, *SHAPE, "--explain-speed").stdout)
        self.save("Ways")
        self.assertNotIn("can't be counted", self.succeed("check", self.path, *SHAPE, "--explain-speed").stdout)

    def test_as_before_where_all_is_counted(self):
        report, said = self.convert_model("Ways")
        self.assertEqual({"nnapi": 4, "all": 4, "uncounted": 0, "unknown_operators": 0, "counts_rounds": False},
                         report["partition"]["products"])
        self.assertIn("7 segments with 100.0 % of the multiply-adds go to NNAPI, the rest stays on the CPU; loops count "
                      "with one round\n", said)

    def test_counted_in_runs_on_bundled_inputs(self):
        """The largest round counts: the last of four, on 64 rows."""
        module = self.save("HalfKnown")
        sample = torch.full((1, 4, 8, 8), 0.5)
        bundled = torch.utils.bundled_inputs.bundle_inputs(module, [(sample,)])
        bundled.save(str(self.path))
        said = self.succeed(self.path, "--nhwc", "--min-segment-macs", "0", "-o", self.out,
                            "--report", self.page).stderr
        partition = read_page(self.page).report["partition"]
        self.assertEqual(0, partition["products"]["uncounted"])
        known = 8 * 8 * 4 * 4 * 9
        counted = sorted(entry["macs"] for entry in partition["cpu"] if entry.get("is_estimated"))
        self.assertEqual([4 * known, 4 * known, 8 * known], counted)
        self.assertAlmostEqual(1 / 17, partition["mac_share"])
        self.assertIn("with 5.8 % of the multiply-adds go to NNAPI", said)
        self.assertIn("94.1 % of all are estimates, for sizes that depend on values", said)


class Reasons(Partitioned):
    def reasons(self, model, *arguments):
        report, said = self.convert_model(model, *arguments)
        found = {}
        for entry in report["partition"]["cpu"]:
            found.setdefault(entry["op"], set()).add(entry["found"])
        return report["partition"]["cpu"], found, said

    def test_each_kind_has_its_own(self):
        _, found, _ = self.reasons("Effects")
        for kind, reason in (("prim::If", "which branch runs depends on values"),
                             ("prim::RaiseException", "ends the run with an error"),
                             ("prim::Print", "prints"), ("aten::warn", "gives a warning"),
                             ("prim::SetAttr", "changes an attribute"),
                             ("prim::GetAttr", "reads an attribute that may change"),
                             ("aten::rand_like", "draws random numbers"),
                             ("aten::Bool", "gives a number, not a tensor")):
            self.assertEqual({reason}, found[kind], kind)
        self.assertEqual({"how often it runs depends on values"}, self.reasons("Rounds")[1]["prim::Loop"])

    def test_no_reason_lumps(self):
        for name in ("Effects", "Ways", "LongerList", "DictOfRounds"):
            _, _, said = self.reasons(name)
            self.assertNotIn("control flow, or an effect", said)

    def test_names_the_first_cause(self):
        cpu, found, said = self.reasons("Growing")
        self.assertIn("the shape of its input is known only when the model runs: it depends on the loop", found["aten::conv2d"])
        line = line_of("while bool", "Growing")
        since = {entry["since"].split("/")[-1] for entry in cpu if entry["op"] == "aten::conv2d"}
        self.assertEqual({line}, since)
        self.assertIn(f"it depends on the loop at {line} (at ", said)
        self.assertEqual(1, said.count("it depends on the loop"))
        checked = [entry for entry in self.check_report()["refusals"] if entry["op"] == "aten::conv2d"]
        self.assertEqual({line}, {entry["since"].split("/")[-1] for entry in checked})
        self.assertIn(f"it depends on the loop at {line}, 3 times (unknown multiply-adds)",
                      self.succeed("check", self.path, *SHAPE).stdout)

    def test_a_number_is_no_shape(self):
        _, found, _ = self.reasons("NumberScattered")
        self.assertEqual({"its input is a number that is known only when the model runs: it depends on aten::Float"},
                         found["aten::scatter"])

    def test_each_is_one_line(self):
        cpu, _, _ = self.reasons("Effects", *SHAPE, "--feature-level", "1")
        self.assertTrue([entry for entry in cpu if "NNAPI can't run it" in entry["found"]])
        for entry in cpu:
            self.assertNotIn("\n", entry["found"])

    def test_a_chain_has_one_cause(self):
        cpu, _, _ = self.reasons("Chain")
        unknown = [entry for entry in cpu if "is known only when the model runs" in entry["found"]]
        self.assertLess(2, len({entry["op"] for entry in unknown}))
        causes = {entry["found"].partition(": ")[2] for entry in unknown}  # of a number first, then of shapes
        self.assertEqual(1, len(causes), unknown)
        self.assertEqual(1, len({entry["since"] for entry in unknown}), unknown)
        self.assertNotIn("tanh", unknown[0]["found"])

    def test_the_list_is_short(self):
        """Many operators for one reason: six are named."""
        _, _, said = self.reasons("Chain")
        for line in said.splitlines():
            self.assertLess(line.count("::"), 9, line)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
