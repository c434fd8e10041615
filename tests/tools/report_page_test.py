# SPDX-License-Identifier: BSD-3-Clause
"""--report FILE.html and inspect --format html: one page that needs nothing else, with all that the JSON report has,
and safe whatever names a model has. scripts/systems/test-page.sh looks at pages in a browser."""

import json
import pathlib
import re
import unittest

import jsonschema
import torch

from block_models import MODELS, line_of
from cli import ROOT, CliTest, run
from page import Page, read_page

SCHEMA = json.loads((ROOT / "schemas" / "report.schema.json").read_text())
IMAGE = ["--input", "1,3,16,16"]
HOSTILE = "</script><img src=x onerror=alert(1)><!--"
PARTS = {"html", "head", "meta", "title", "style", "body", "header", "main", "section", "div", "h2", "label", "input",
         "output", "span", "button", "aside", "p", "noscript", "script"}


class ReportPage(CliTest):
    def page(self, model, *arguments, code=0) -> Page:
        path = self.folder / "report.html"
        source = model if isinstance(model, pathlib.Path) else self.fixture(model)
        result = run(source, *arguments, "-o", self.folder / "out.pt", "--report", path)
        self.assertEqual(code, result.code, f"\n{result}")
        return self.checked(read_page(path))

    def checked(self, page: Page) -> Page:
        """Checks that the page loads nothing, has only its own elements, and has a report that fits the schema."""
        self.assertEqual([], page.addresses)
        self.assertEqual(set(), set(page.tags) - PARTS)
        self.assertEqual(["application/json", ""], [kind for kind, _ in page.scripts])
        self.assertNotRegex(page.text, r"https?://(?!www\.w3\.org/2000/svg)")
        self.assertIn("default-src 'none'", page.text)
        jsonschema.Draft202012Validator(SCHEMA).validate(page.report)
        return page

    def test_has_what_the_json_report_has(self):
        out, paths = self.folder / "out.pt", [self.folder / "a.html", self.folder / "a.json"]
        self.succeed(self.fixture("residual.pt"), *IMAGE, "--nhwc", "--verify", "-o", out, "--report", paths[0],
                     "--report", paths[1])
        report = self.checked(read_page(paths[0])).report
        self.assertEqual(json.loads(paths[1].read_text()), report)
        self.assertTrue(report["verification"]["passed"])

    def test_graph(self):
        report = self.page("residual.pt", *IMAGE, "--nhwc").report
        graph = report["graph"]
        self.assertEqual([0], [step["segment"] for step in graph["steps"]])
        nodes = graph["steps"][0]["nodes"]
        self.assertEqual(["CONV_2D", "CONV_2D", "CONV_2D", "ADD"], [node["op"] for node in nodes])
        for node in nodes:
            self.assertRegex(node["where"], r"\.py:\d+( \(\w+\.py:\d+\))?$")
            self.assertEqual(len(node["inputs"]), len(node["arguments"]))
        first = {name: graph["values"][number] for name, number in zip(nodes[0]["arguments"], nodes[0]["inputs"])}
        self.assertEqual([1, 16, 16, 3], first["input"]["shape"])
        self.assertTrue(first["input"]["nhwc"])
        self.assertEqual([8, 3, 3, 3], first["filter"]["shape"])
        self.assertIn("constant", first["filter"])
        self.assertEqual(8 * 3 * 9 * 256, nodes[0]["macs"])
        self.assertEqual([1, 3, 16, 16], graph["values"][graph["inputs"][0]]["shape"])
        written = {value for node in nodes for value in node["outputs"]}
        self.assertTrue(set(graph["outputs"]) <= written)

    def test_what_made_it(self):
        report = self.page("residual.pt", *IMAGE, "--nhwc", "--labels", ROOT / "LICENSE").report
        self.assertRegex(report["program"]["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(report["program"]["libtorch"], r"^\d+\.\d+\.\d+")
        self.assertEqual(["--labels LICENSE", "--input 1,3,16,16", "--nhwc"], report["options"])
        self.assertEqual({"min_api": 29, "version": "10"}, report["android"])  # PyTorch's loader needs it
        self.assertEqual({"min_api": 27, "version": "8.1"},
                         self.page("residual.pt", *IMAGE, "--nhwc", "--runtime", "shim").report["android"])
        refused = self.page("unknown_operations.pt", *IMAGE, "--nhwc", "--fallback", "none", code=1).report
        self.assertEqual(["--input 1,3,16,16", "--nhwc", "--fallback none"], refused["options"])
        self.assertNotIn("android", refused)

    def test_histograms(self):
        for output in self.page("tuple_output.pt", *IMAGE, "--nhwc", "--verify").report["verification"]["outputs"]:
            counts = output["histogram"]
            total = 4  # samples
            for size in re.findall(r"\d+", output["shape"]):
                total *= int(size)
            self.assertEqual([total, total], [sum(counts["original"]), sum(counts["converted"])])
            self.assertLess(counts["lowest"], counts["highest"])
            self.assertGreater(len([count for count in counts["original"] if count > 0]), 3)

    def test_quantised_values(self):
        report = self.page("quant.pt", "--nhwc", "--quant", "full").report
        graph = report["graph"]
        scales = [value["scale"] for value in graph["values"]
                  if value.get("type") == "TENSOR_QUANT8_ASYMM" and "constant" not in value]
        self.assertTrue(scales)
        self.assertIn(report["inputs"][0]["scale"],
                      [graph["values"][number].get("scale") for number in graph["inputs"]])

    def test_partitioned(self):
        report = self.page("unknown_operations.pt", *IMAGE, "--nhwc", "--min-segment-macs", "0").report
        steps = report["graph"]["steps"]
        self.assertEqual(len(report["partition"]["segments"]), sum(step["segment"] is not None for step in steps))
        self.assertIn(None, [step["segment"] for step in steps])
        reasons = [node["reason"] for step in steps for node in step["nodes"] if "reason" in node]
        self.assertEqual(list(range(len(report["partition"]["cpu"]))), sorted(set(reasons)))
        for step in steps:
            for node in step["nodes"]:
                if "reason" in node and node["reason"] < len(report["partition"]["cpu"]):
                    self.assertEqual(step["segment"], None)
        cpu = [node for step in steps if step["segment"] is None for node in step["nodes"]]
        self.assertEqual([["self"]] * 2,
                         [node["arguments"] for node in cpu if node["op"] == "aten::linalg_matrix_exp"])
        for segment in report["partition"]["segments"]:
            self.assertGreater(segment["input_bytes"], 0)
            self.assertGreater(segment["output_bytes"], 0)
        made = set(report["graph"]["inputs"])
        for step in steps:  # whatever is read was made before
            self.assertTrue({outer for outer, _ in step.get("inputs", [])} <= made)
            made |= {value for node in step["nodes"] for value in node["outputs"]}
            made |= {outer for outer, _ in step.get("outputs", [])}
        self.assertTrue(set(report["graph"]["outputs"]) <= made)

    def test_refused(self):
        page = self.page("unknown_operations.pt", *IMAGE, "--nhwc", "--fallback", "none", code=1)
        self.assertFalse(page.report["converted"])
        self.assertEqual(2, len(page.report["refusals"]))
        graph = page.report["graph"]
        step, = graph["steps"]
        self.assertIn("aten::_convolution", [node["op"] for node in step["nodes"]])
        refused = [(node["op"], graph["reasons"][node["reason"]]) for node in step["nodes"] if "reason" in node]
        self.assertEqual(["aten::linalg_matrix_exp"] * 2, [op for op, _ in refused])
        self.assertEqual(page.report["refusals"], [reason for _, reason in refused])

    def test_refused_in_parts_too(self):
        class Small(torch.nn.Module):
            def forward(self, x):
                return torch.linalg.matrix_exp(torch.linalg.matrix_exp(x) * 2)

        path = self.folder / "small.pt"
        torch.jit.trace(Small(), torch.rand(4, 4)).save(str(path))
        report = self.page(path, "--input", "4,4", code=1).report
        nodes = [node for step in report["graph"]["steps"] for node in step["nodes"]]
        self.assertEqual(["aten::linalg_matrix_exp", "aten::mul", "aten::linalg_matrix_exp"], [node["op"] for node in nodes])
        self.assertEqual({0, 1, 2}, {node["reason"] for node in nodes})

    def test_refused_by_nnapis_rules(self):
        report = self.page("residual.pt", *IMAGE, "--nchw", "--feature-level", "2", "--fallback", "none", code=1).report
        self.assertIn("NNAPI has no NCHW at feature level 2", report["error"])
        self.assertIn("CONV_2D", [node["op"] for node in report["graph"]["steps"][0]["nodes"]])

    def test_to_a_file_that_is_kept(self):
        path = self.folder / "no" / "report.html"
        self.fail_with(3, self.fixture("residual.pt"), *IMAGE, "--nhwc", "-o", self.folder / "out.pt", "--report", path)

    def test_of_a_converted_file(self):
        for options in ([], ["--runtime", "shim"]):
            path = self.convert("residual.pt", *IMAGE, "--nhwc", *options)
            report = self.checked(Page(self.succeed("inspect", path, "--format", "html").stdout)).report
            form = json.loads(self.succeed("inspect", path, "--format", "json").stdout)
            nodes = report["graph"]["steps"][0]["nodes"]
            self.assertEqual([operation["name"] for operation in form["operations"]], [node["op"] for node in nodes])

    def test_of_a_converted_file_in_parts(self):
        path = self.convert("unknown_operations.pt", *IMAGE, "--nhwc", "--min-segment-macs", "0")
        report = self.checked(Page(self.succeed("inspect", path, "--format", "html").stdout)).report
        steps = report["graph"]["steps"]
        self.assertIn("aten::linalg_matrix_exp",
                      [node["op"] for step in steps if step["segment"] is None for node in step["nodes"]])
        form = json.loads(self.succeed("inspect", path, "--format", "json").stdout)
        for step in steps:
            if step["segment"] is not None:
                operations = form["segments"][step["segment"]]["operations"]
                self.assertEqual([operation["name"] for operation in operations],
                                 [node["op"] for node in step["nodes"]])


class HostileNames(CliTest):
    """Names of files and of source files that would end the script and load an image."""

    def model(self) -> pathlib.Path:
        code = ("import torch\nclass Net(torch.nn.Module):\n  def __init__(self):\n    super().__init__()\n"
                "    self.conv = torch.nn.Conv2d(3, 8, 3)\n  def forward(self, x):\n"
                "    return torch.linalg.matrix_exp(torch.relu(self.conv(x)))\n")
        scope = {}
        exec(compile(code, f"/{HOSTILE}.py", "exec"), scope)  # pylint: disable=exec-used
        torch.manual_seed(0)
        path = self.folder / "<img src=x onerror=alert(1)>.pt"
        torch.jit.trace(scope["Net"]().eval(), torch.rand(1, 3, 16, 16)).save(str(path))
        return path

    def test_page(self):
        path = self.folder / "report.html"
        self.succeed(self.model(), *IMAGE, "--nhwc", "--min-segment-macs", "0", "-o", self.folder / "out.pt",
                     "--report", path)
        page = read_page(path)
        self.assertEqual(set(), set(page.tags) - PARTS)
        self.assertEqual(2, len(page.scripts))
        self.assertNotIn("<img", page.text)
        self.assertEqual(1, page.text.lower().count("<!--") + 1)
        where = {node.get("where", "") for step in page.report["graph"]["steps"] for node in step["nodes"]}
        self.assertTrue(any(HOSTILE in place for place in where), where)
        self.assertIn("<img", page.report["model"])

    def test_path_that_is_no_text(self):
        """A name that is not valid UTF-8 does not prevent the report."""
        source = bytes(self.folder) + b"/\xff.pt"
        with open(source, "wb") as file:
            file.write(self.fixture("residual.pt").read_bytes())
        import os
        import subprocess
        from cli import PROGRAM, environment
        report = self.folder / "report.json"
        done = subprocess.run([PROGRAM, source, *IMAGE, "--nhwc", "-o", self.folder / "out.pt", "--report", report],
                              env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                              check=False)
        self.assertEqual((0, b""), (done.returncode, done.stderr))
        self.assertIn("\ufffd", os.path.basename(json.loads(report.read_text())["model"]))


class Dot(CliTest):
    """inspect --format dot, read by Graphviz's grammar for what is written."""

    NODE = re.compile(r'^  (\w+) \[label="((?:[^"\\]|\\.)*)", shape=(box|ellipse)\];$')
    EDGE = re.compile(r'^  (\w+) -> (\w+) \[label="((?:[^"\\]|\\.)*)"\];$')
    CLUSTER = re.compile(r"^  subgraph cluster_(block_)?\d+ \{$")
    LABEL = re.compile(r'^  label="((?:[^"\\]|\\.)*)"; style=(solid|dashed|filled; fillcolor="#\w+");$')

    def graph(self, path):
        """Nodes by id, edges, and the clusters with those around them."""
        lines = self.succeed("inspect", path, "--format", "dot").stdout.splitlines()
        self.assertEqual("digraph model {", lines[0])
        self.assertEqual("}", lines[-1])
        nodes, edges, clusters, around = {}, [], [], []
        for line in lines[1:-1]:
            if match := self.NODE.match(line):
                if match[1] != "node":
                    self.assertNotIn(match[1], nodes)
                    nodes[match[1]] = match[2]
            elif match := self.EDGE.match(line):
                self.assertEqual([], around)  # else it would put its nodes there
                edges.append((match[1], match[2]))
            elif self.CLUSTER.match(line):
                around.append(None)
            elif match := self.LABEL.match(line):
                around[-1] = match[1]
                clusters.append(" / ".join(around))
            elif line == "  }":
                around.pop()
            else:
                self.assertEqual('  node [shape=box, fontname="sans-serif"];', line)
        self.assertEqual([], around)
        for edge in edges:
            self.assertTrue(set(edge) <= set(nodes), edge)
        return nodes, edges, clusters

    def test_whole(self):
        nodes, edges, clusters = self.graph(self.convert("residual.pt", *IMAGE, "--nhwc"))
        self.assertEqual(["NNAPI, segment 0"], clusters)
        self.assertEqual(["ADD", "CONV_2D", "CONV_2D", "CONV_2D"],
                         sorted(label for name, label in nodes.items() if name.startswith("node")))
        reads = {target for _, target in edges}
        self.assertEqual({name for name in nodes if not name.startswith("input")}, reads)

    def test_in_parts(self):
        nodes, edges, clusters = self.graph(self.convert("unknown_operations.pt", *IMAGE, "--nhwc",
                                                         "--min-segment-macs", "0"))
        self.assertIn("CPU", clusters)
        self.assertIn("aten::linalg_matrix_exp", nodes.values())
        between = [(a, b) for a, b in edges
                   if a.startswith("node") and b.startswith("node") and a.split("_")[1] != b.split("_")[1]]
        self.assertTrue(between)

    def test_subgraphs(self):
        path = self.convert("control_flow.pt", *IMAGE, "--nhwc", "--runtime", "shim", "--feature-level", "4",
                            "--control-flow", "nnapi")
        _, _, clusters = self.graph(path)
        self.assertIn("NNAPI, segment 0, subgraph 1", clusters)

    def test_branches_and_loops(self):
        torch.manual_seed(0)
        model, out = self.folder / "ways.pt", self.folder / "out.pt"
        torch.jit.script(MODELS["Ways"]().eval()).save(str(model))
        self.succeed(model, "--input", "1,4,8,8", "--nhwc", "--min-segment-macs", "0", "-o", out)
        nodes, edges, clusters = self.graph(out)
        loop, branch, other, inner = (line_of(text)
                                      for text in ("for i in", "if bool(y.mean", "if bool(y.mean", "for _ in range(2"))
        self.assertIn(f"loop at {loop} / else of {other} / NNAPI, segment 6", clusters)
        self.assertIn(f"loop at {loop} / if at {branch} / loop at {inner} / NNAPI, segment 5", clusters)
        # What either branch gives is read behind the loop.
        makers = [a for a, b in edges if b == next(name for name, label in nodes.items() if label == "output 0")]
        last = [a for a, b in edges if b in makers]
        self.assertTrue({"TANH", "CONV_2D"} <= {nodes[name] for name in last}, last)


if __name__ == "__main__":
    unittest.main()
