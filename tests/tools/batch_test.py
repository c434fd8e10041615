# SPDX-License-Identifier: BSD-3-Clause
"""batch: which models there are, options, results, reports and what is printed."""

import itertools
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

import jsonschema

from batch_cli import REPORT_SCHEMA, SCHEMA, STATE, BatchTest
from cli import PROGRAM, ROOT, environment, run

MANIFEST_SCHEMA = json.loads((ROOT / "schemas" / "batch_manifest.schema.json").read_text())


class Zoo(BatchTest):
    def test_schemas(self):
        for schema in (SCHEMA, MANIFEST_SCHEMA):
            jsonschema.Draft202012Validator.check_schema(schema)

    def test_results_are_those_of_the_conversion(self):
        self.add("bundled.pt", "quant.pt")
        self.batch("--nhwc")
        for name in ("bundled.pt", "quant.pt"):
            alone = self.folder / "alone" / name
            alone.parent.mkdir(exist_ok=True)
            self.succeed(self.fixture(name), "--nhwc", "-o", alone)
            self.assertEqual(alone.read_bytes(), (self.out / name).read_bytes())

    def test_folder_with_folders(self):
        self.add("bundled.pt")
        self.add("quant.pt", to="deep/er/quant.pt")
        self.add("lite.ptl", to="lite.ptl")
        (self.zoo / "notes.txt").write_text("no model")
        (self.zoo / ".hidden").mkdir()
        self.add("bundled.pt", to=".hidden/bundled.pt")
        self.batch("--nhwc", "--input", "1,3,16,16")
        self.assertEqual(["bundled", "deep/er/quant", "lite"], sorted(self.statuses()))
        self.assertTrue((self.out / "deep" / "er" / "quant.pt").exists())
        self.assertTrue((self.out / "deep" / "er" / "quant.report.json").exists())

    def test_results_within_the_zoo_are_no_models(self):
        self.add("bundled.pt")
        for _ in range(2):
            self.batch("--nhwc", out=self.zoo / "converted")
            self.assertEqual(["bundled"], list(self.statuses(self.zoo / "converted")))

    def test_pattern(self):
        self.add("bundled.pt", "quant.pt", "quant_float.pt")
        self.batch("--nhwc", zoo=str(self.zoo / "quant*.pt"))
        self.assertEqual(["quant", "quant_float"], list(self.statuses()))

    def test_extension(self):
        self.add("bundled.pt")
        self.batch("--nhwc", "--extension", "ptl")
        alone = self.folder / "bundled.ptl"
        self.succeed(self.fixture("bundled.pt"), "--nhwc", "-o", alone)
        self.assertEqual(alone.read_bytes(), (self.out / "bundled.ptl").read_bytes())

    def test_emit_cpu(self):
        self.add("bundled.pt")
        self.batch("--nhwc", "--emit-cpu")
        self.assertEqual(["bundled.cpu.pt", "bundled.pt", "bundled.report.json"],
                         sorted(self.entry("bundled")["outputs"]))
        self.succeed("verify", self.zoo / "bundled.pt", self.out / "bundled.pt")

    def test_litert(self):
        self.add("bundled.pt")
        self.batch("--nhwc", "--litert", "--emit-cpu")
        self.assertEqual(["bundled.cpu.pt", "bundled.pt", "bundled.report.json", "bundled.tflite"],
                         sorted(self.entry("bundled")["outputs"]))
        both = ["-o", self.folder / "out.pt", "--litert", self.folder / "alone.tflite"]
        self.succeed(self.fixture("bundled.pt"), "--nhwc", *both)
        self.assertEqual((self.folder / "alone.tflite").read_bytes(), (self.out / "bundled.tflite").read_bytes())
        report = json.loads((self.out / "bundled.report.json").read_text())
        self.assertEqual("bundled.tflite", report["litert"]["output"])
        self.assertEqual((self.out / "bundled.tflite").stat().st_size, report["litert"]["file_bytes"])

    def refused(self, code, needed, *arguments, zoo=None):
        return self.fail_with(code, "batch", zoo or self.zoo, "-o", self.out, *arguments, needed=[needed])

    def test_no_zoo(self):
        self.refused(2, "no .pt, .pth, .ptl or .pt2 file")
        self.refused(2, "no file matches", zoo=str(self.zoo / "*.pt"))
        self.refused(3, "no such file or folder", zoo=self.folder / "nothing")
        self.add("bundled.pt")
        self.refused(2, "one model is converted without batch", zoo=self.zoo / "bundled.pt")

    def test_models_that_differ_in_the_extension(self):
        """Repositories of Android apps have model.pt and model.ptl side by side."""
        self.add("bundled.pt")
        self.add("quant.pt", to="bundled.ptl")
        self.add("bundled.pt", to="inner/bundled.pth")
        self.batch("--nhwc")
        self.assertEqual(dict.fromkeys(["bundled", "bundled.ptl", "inner/bundled"], "converted"), self.statuses())
        for name in ("bundled.pt", "bundled.ptl.pt", "inner/bundled.pt"):
            self.assertTrue((self.out / name).is_file(), name)
        reports = [json.loads((self.out / f"{name}.report.json").read_text()) for name in ("bundled", "bundled.ptl")]
        self.assertEqual([("none", "bundled.pt"), ("core", "bundled.ptl")],
                         [(report["quant"], report["model"]) for report in reports])
        out = self.folder / "by_pattern"
        self.batch("--nhwc", zoo=self.zoo / "bundled.*", out=out)
        self.assertEqual(["bundled.pt", "bundled.ptl.pt"], sorted(path.name for path in out.glob("*.pt")))

    def test_wrong_options_are_found_before_anything_is_done(self):
        self.add("bundled.pt")
        self.refused(2, "--quant", "--quant", "x")
        self.refused(2, "--fallback", "--fallback", "cpu")
        self.refused(2, "--input 1,xy", "--input", "1,xy")
        self.refused(2, "--memory: 1 MB found", "--memory", "1MB")
        self.refused(2, "--limit speed=1", "--limit", "speed=1")
        self.assertFalse((self.out / "summary.json").exists())

    def test_output_folder_that_can_not_be_made(self):
        self.add("bundled.pt")
        self.out.write_bytes(b"a file")
        self.refused(3, "can't write")
        self.assertEqual(b"a file", self.out.read_bytes())

    def test_one_batch_at_a_time(self):
        self.add("bundled.pt")
        self.hanging("slow.pt")
        process = self.start("--nhwc", "--keep-going", zoo=str(self.zoo / "*.pt"))
        self.wait_for_model(process)
        self.refused(3, "another batch writes to it")
        process.kill()
        process.wait()
        self.batch("--nhwc", zoo=str(self.zoo / "bundled*"))


class Help(BatchTest):
    def test_examples_run(self):
        result = run("batch", "--help")
        self.assertEqual((0, ""), (result.code, result.stderr))
        lines = result.stdout[result.stdout.index("Examples:"):].splitlines()[1:]
        examples = [line for line in itertools.takewhile(lambda line: line.startswith("  "), lines)]
        self.assertGreaterEqual(len(examples), 3)
        shutil.copytree(self.zoo, self.folder / "models")
        for name in ("bundled.pt", "quant.pt"):
            shutil.copyfile(self.fixture(name), self.folder / "models" / name)
        (self.folder / "zoo.json").write_text(json.dumps({"version": 1, "models": [{"model": "models/quant.pt"}]}))
        self.batch(zoo="zoo.json", cwd=self.folder)
        shutil.copyfile(self.out / "summary.json", self.folder / "last.json")
        for example in examples:
            words = shlex.split(example)
            self.assertEqual(["nnapi-convert", "batch"], words[:2])
            with self.subTest(example=example):
                self.succeed(*words[1:], cwd=self.folder)

    def test_exit_codes_begin_as_those_of_the_conversion(self):
        def codes(text):
            return re.findall(r"^  (\d+)\+? +\S", text[text.index("Exit codes:"):], re.M)

        self.assertEqual(["0", "1", "2", "3", "5", "70", "128"], codes(run("batch", "--help-all").stdout))


class Manifest(BatchTest):
    def test_options_are_those_of_the_conversion(self):
        help_text = run("batch", "--help-all").stdout
        group = help_text[help_text.index("Options of each conversion"):help_text.index("Limits of")]
        self.assertCountEqual(re.findall(r"^  --([a-z0-9-]+)", group, re.M),
                              list(MANIFEST_SCHEMA["$defs"]["options"]["properties"]))

    def test_options_of_model_then_command_line_then_defaults(self):
        self.add("bundled.pt")
        path = self.manifest({"model": "bundled.pt", "name": "plain"},
                             {"model": "bundled.pt", "name": "own", "options": {"nchw": True, "feature-level": 4}},
                             {"model": "bundled.pt", "name": "off", "options": {"nhwc": False, "nchw": True}},
                             defaults={"nhwc": True, "preference": "low-power", "feature-level": 5})
        jsonschema.Draft202012Validator(MANIFEST_SCHEMA).validate(json.loads(path.read_text()))
        self.batch("--preference", "fast-single-answer", "--relax-fp16", zoo=path)
        common = ["--preference=fast-single-answer", "--relax-fp16"]
        self.assertEqual(["--feature-level=5", "--nhwc", *common], self.entry("plain")["options"])
        self.assertEqual(["--feature-level=4", "--nchw", *common], self.entry("own")["options"])
        self.assertEqual(["--feature-level=5", "--nchw", *common], self.entry("off")["options"])

    def test_inputs(self):
        self.add("two_input.pt", "residual.pt")
        path = self.manifest({"model": "two_input.pt", "options": {"input": ["1,3,8,8", "1,2,8,8"], "nhwc": "0,1"}},
                             {"model": "residual.pt", "options": {"input": "1,3,16,16", "nhwc": True}})
        self.batch(zoo=path)
        self.assertEqual({"two_input": "converted", "residual": "converted"}, self.statuses())

    def test_works_from_everywhere(self):
        self.add("bundled.pt", to="deep/bundled.pt")
        path = self.manifest({"model": "deep/bundled.pt"})
        self.batch("--nhwc", zoo=path)
        self.batch("--nhwc", zoo="zoo.json", out="../other", cwd=self.zoo)
        self.assertEqual(self.results(), self.results(self.folder / "other"))

    def test_wrong_manifests(self):
        model = {"model": "bundled.pt"}
        cases = {
            "\"version\" is missing": {"models": [model]},
            "/version: 2 found": {"version": 2, "models": [model]},
            "\"models\" is missing": {"version": 1},
            "/models: a list": {"version": 1, "models": []},
            "/more: no such key": {"version": 1, "models": [model], "more": 1},
            "/models/1: \"model\" is missing": {"version": 1, "models": [model, {"name": "x"}]},
            "/models/0/model: 3 found": {"version": 1, "models": [{"model": 3}]},
            "/models/0/name: \"\" found": {"version": 1, "models": [{**model, "name": ""}]},
            "/models/0/file: no such key": {"version": 1, "models": [{**model, "file": "x"}]},
            "/models/0: \"bundled.pt\" found": {"version": 1, "models": ["bundled.pt"]},
            "/models/0/options/nwhc: no such option": {"version": 1, "models": [{**model, "options": {"nwhc": True}}]},
            "/models/0/options/nchw: 1 found": {"version": 1, "models": [{**model, "options": {"nchw": 1}}]},
            "/models/0/options/input: [] found": {"version": 1, "models": [{**model, "options": {"input": []}}]},
            "/models/0/options/quant: [\"full\"] found": {"version": 1,
                                                          "models": [{**model, "options": {"quant": ["full"]}}]},
            "/defaults: [] found": {"version": 1, "models": [model], "defaults": []},
            "/defaults/verify: \"yes\" found": {"version": 1, "models": [model], "defaults": {"verify": "yes"}},
        }
        self.add("bundled.pt")
        path = self.zoo / "zoo.json"
        for needed, content in cases.items():
            with self.subTest(needed=needed):
                self.assertFalse(jsonschema.Draft202012Validator(MANIFEST_SCHEMA).is_valid(content))
                path.write_text(json.dumps(content))
                self.fail_with(2, "batch", path, "-o", self.out, needed=[needed])

    def test_what_the_schema_can_not_say(self):
        path = self.zoo / "zoo.json"
        for code, needed, content in [
            (3, "no JSON: byte 3", "{ ]"),
            (3, "no JSON", ""),
            (2, "no place below the output folder", json.dumps({"version": 1, "models": [{"model": "../x.pt"}]})),
            (2, "no place below the output folder",
             json.dumps({"version": 1, "models": [{"model": "x.pt", "name": "/x"}]})),
            (2, "would both be written", json.dumps({"version": 1, "models": [{"model": "x.pt"}, {"model": "x.ptl"}]})),
        ]:
            with self.subTest(needed=needed):
                path.write_text(content)
                self.fail_with(code, "batch", path, "-o", self.out, needed=[needed])
        self.fail_with(3, "batch", self.zoo / "none.json", "-o", self.out, needed=["can't read"])


class Output(BatchTest):
    def setUp(self):
        super().setUp()
        self.add("bundled.pt", "quant.pt")
        self.add("refused.pt", to="odd & <name>.pt")

    def run_all(self, *arguments):
        return self.batch("--nhwc", "--input", "1,3,16,16", "--keep-going", *arguments, code=1)

    def test_summary_and_reports(self):
        self.run_all("--verify")
        entry = self.entry("bundled")
        self.assertEqual("converted", entry["status"])
        self.assertEqual((self.out / "bundled.pt").stat().st_size, entry["file_bytes"])
        self.assertGreater(entry["snr_db"], 100)
        self.assertEqual((1, 1.0), (entry["segments"], entry["mac_share"]))
        refused = self.entry("odd & <name>")
        self.assertEqual(("refused", 2), (refused["status"], refused["refusals"]))
        self.assertIn("aten::linalg_matrix_exp", refused["error"])
        self.assertEqual({"converted": 2, "refused": 1}, self.summary()["counts"])
        for name in self.statuses():
            report = json.loads((self.out / f"{name}.report.json").read_text())
            jsonschema.Draft202012Validator(REPORT_SCHEMA).validate(report)
            self.assertEqual(f"{name}.pt", report["model"])
        self.assertFalse((self.out / "odd & <name>.pt").exists())

    def test_hashes_are_of_the_files(self):
        self.run_all()
        for entry in self.summary()["models"]:
            for name, digest in entry["outputs"].items():
                done = subprocess.run(["sha256sum", self.out / name], stdout=subprocess.PIPE, text=True, check=True)
                self.assertEqual(digest, done.stdout.split()[0])

    def test_junit(self):
        self.run_all()
        suite = ElementTree.parse(self.out / "summary.xml").getroot()
        self.assertEqual(("3", "1", "0", "0"),
                         tuple(suite.get(key) for key in ("tests", "failures", "errors", "skipped")))
        cases = {case.get("name"): case for case in suite}
        self.assertEqual({"bundled", "quant", "odd & <name>"}, set(cases))
        self.assertIn("aten::linalg_matrix_exp", cases["odd & <name>"].find("failure").get("message"))
        self.assertGreater(float(cases["quant"].get("time")), 0)

    def test_table_on_stdout_and_in_markdown(self):
        result = self.run_all()
        self.assertRegex(result.stdout, r"^model +status +operations +level +segments +MB +SNR dB +warnings\n")
        self.assertRegex(result.stdout, r"\nquant +converted +6 +1 +1 +0.02 +- +1\n")
        self.assertRegex(result.stdout,
                         r"\n3 models: 2 converted, 1 refused; 0 up to date; \d+\.\d s, peak memory \d+ MB\n$")
        text = (self.out / "summary.md").read_text()
        self.assertIn("| quant | converted | 6 | 1 | 1 | 0.02 | - | 1 |", text)
        self.assertIn("aten::linalg_matrix_exp", text)

    def test_a_line_for_each_model_without_a_terminal(self):
        lines = self.run_all("--jobs", "2").stderr.splitlines()
        small = [line for line in lines if line.startswith("  warning: NNAPI is probably slower here than the CPU")]
        lines = [line for line in lines if line not in small]
        self.assertEqual((2, 3), (len(small), len(lines)))
        for number, line in enumerate(lines, 1):
            self.assertRegex(line, rf"^\[{number}/3\] .+: (converted|refused), \d+\.\d\d s, \d+ MB$")
        self.assertEqual("", self.run_all("--quiet").stderr)

    def test_warnings_without_a_terminal(self):
        labels = self.folder / "labels.txt"
        labels.write_text("x\ny\n")
        text = self.run_all("--labels", labels).stderr
        self.assertRegex(text, r"\] bundled: converted, .*\n(?:  .*\n)*  warning: --labels: 2 names found, and the outputs have ")
        self.assertEqual("", self.run_all("--labels", labels, "--quiet").stderr)

    def test_bar_on_a_terminal(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([PROGRAM, "batch", self.zoo, "-o", self.out, "--nhwc", "--keep-going"],
                                   env=environment(), stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        text = b""
        while True:
            try:
                block = os.read(ours, 4096)
            except OSError:
                break
            if not block:
                break
            text += block
        os.close(ours)
        self.assertEqual(1, process.wait())
        shown = text.decode()
        self.assertRegex(shown, r"\[#* *\] \d/3, \d+\.\d/s, [^,]+ left, \d failed")
        self.assertRegex(shown, r"\[#{24}\] 3/3, \d+\.\d/s, 0 s left, 1 failed")
        self.assertTrue(shown.endswith("\r\033[K"), "the bar stays")
        self.assertNotIn("\n", shown)

    def test_jobs_change_nothing(self):
        for jobs in ("1", "2", "5"):
            self.run_all("--verify", "--jobs", jobs)
            results = self.results()
            shutil.rmtree(self.out)
            first = results if jobs == "1" else first
            self.assertEqual(first, results)

    def test_nothing_is_left_over(self):
        self.run_all()
        self.assertEqual(["lock", "records"], sorted(os.listdir(self.out / STATE)))
        self.assertEqual([], [path for path in self.out.rglob(".nnapi-convert-*")])


if __name__ == "__main__":
    unittest.main()
