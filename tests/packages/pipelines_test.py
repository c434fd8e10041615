# SPDX-License-Identifier: BSD-3-Clause
"""docs/pipelines.md: its commands, run in their order as they stand, and what they leave; and the workflow for GitHub.

NNAPI_CONVERT_WHEEL is a wheel for the workflow's step "Install"; without it, that step is left out, and the command is one
that cmake installed."""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
import unittest
from typing import Dict, List

import yaml

from installed import BUILD, FIXTURES, ROOT, environment, run

PAGE = ROOT / "docs" / "pipelines.md"
MODELS = {"classifier.pt": "depthwise.pt", "quantised.pt": "quant.pt", "deep/bundled.pt": "bundled.pt"}
# Slurm itself takes daemons and a cluster: what it does with an array, on this machine.
SBATCH = r"""#!/bin/bash
for argument; do
  case $argument in --array=*) range=${argument#--array=} ;; esac
done
for ((i = ${range%-*}; i <= ${range#*-}; i++)); do
  SLURM_ARRAY_TASK_ID=$i /bin/sh -c "${!#}" || exit
done
"""


class Workflow:
    """The page's workflow, whose steps with `run` are run as GitHub does: each by a bash of its own."""

    def __init__(self, folder: pathlib.Path, path: str, wheel: str):
        self.folder, self.path, self.wheel = folder, path, wheel
        block, = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.S)
        self.content = yaml.safe_load(block)
        self.job, = self.content["jobs"].values()
        self.steps: List[dict] = self.job["steps"]
        self.summary = folder / "step_summary.md"
        self.added = folder / "path"
        self.temporary = folder / "temporary"
        self.temporary.mkdir()

    def environment(self) -> Dict[str, str]:
        added = self.added.read_text().splitlines()
        given = {**self.content["env"], **({"WHEEL": self.wheel} if self.wheel else {})}
        return {**environment(), **given, "PATH": ":".join([*reversed(added), self.path]), "RUNNER_TEMP": str(self.temporary),
                "GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_PATH": str(self.added)}

    def run(self, work: pathlib.Path) -> Dict[str, int]:
        """Runs the job in a checkout: after a failure, only the steps that ask for it. Returns exit codes by steps' names."""
        assert self.job["defaults"] == {"run": {"shell": "bash"}}, self.job
        self.summary.write_text("")
        self.added.write_text("")
        self.output = ""
        codes: Dict[str, int] = {}
        for step in self.steps:
            if "run" not in step or (step["name"] == "Install" and not self.wheel):
                continue
            if any(codes.values()) and step.get("if") != "${{ !cancelled() }}":
                continue
            script = self.temporary / "step.sh"
            script.write_text(step["run"])
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=work, env=self.environment(),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            codes[step["name"]] = done.returncode
            self.output += done.stdout
        return codes


class GitHub(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="nnapi-convert-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        wheel = os.environ.get("NNAPI_CONVERT_WHEEL", "")
        path = "/usr/bin:/bin"
        if not wheel:
            run("cmake", "--install", BUILD, "--prefix", cls.folder / "prefix")
            path = f"{cls.folder}/prefix/bin:{path}"
        cls.workflow = Workflow(cls.folder, path, wheel)
        cls.work = cls.folder / "work"
        for name, fixture in MODELS.items():
            (cls.work / "models" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(FIXTURES / fixture, cls.work / "models" / name)

    def expect(self, convert: int, *texts: str):
        """Runs the job; `convert` is the exit code of batch."""
        codes = self.workflow.run(self.work)
        needed = {"Install": 0, "Convert": convert, "Summary": 0}
        self.assertEqual({name: needed[name] for name in codes}, codes, self.workflow.output)
        self.assertLessEqual({"Convert", "Summary"}, set(codes))
        summary = self.workflow.summary.read_text()
        self.assertEqual((self.work / "converted" / "summary.md").read_text(), summary)
        for text in texts:
            self.assertIn(text, summary)

    def test_the_workflow(self):
        uses = [step for step in self.workflow.steps if "uses" in step]
        self.assertEqual(["actions/checkout", "actions/upload-artifact"], [step["uses"].split("@")[0] for step in uses])
        self.assertEqual("${{ !cancelled() }}", uses[1]["if"], "results are kept of a job that failed, too")
        kept = self.work / uses[1]["with"]["path"]
        quantised, shipped = self.work / "models" / "quantised.pt", self.work / "shipped.json"
        shipped.write_text(json.dumps({"version": 1, "counts": {}, "models": []}))
        self.expect(0, "| quantised | converted |")
        self.assertEqual({*MODELS, "summary.json", "summary.md", "summary.xml"},
                         {str(path.relative_to(kept)) for path in kept.rglob("*.*")
                          if not path.name.endswith(".report.json") and ".nnapi-batch" not in path.parts})
        shutil.copyfile(kept / "summary.json", shipped)
        self.expect(0, "Nothing changed.")
        with self.subTest("a new model fails"):
            shutil.copyfile(FIXTURES / "refused.pt", self.work / "models" / "new.pt")
            self.expect(1, "| new | status | - | refused |  | new |")
            (self.work / "models" / "new.pt").unlink()
        with self.subTest("a model gets worse"):
            shutil.copyfile(FIXTURES / "refused.pt", quantised)
            self.expect(5, "**quantised**, refused:", "**worse**")
        with self.subTest("the baseline is missing"):
            shipped.unlink()
            self.assertEqual(3, self.workflow.run(self.work)["Convert"], self.workflow.output)


class Pipelines(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="nnapi-convert-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.work = cls.folder / "work"
        for name, fixture in MODELS.items():
            (cls.work / "models" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(FIXTURES / fixture, cls.work / "models" / name)
        sbatch = cls.prefix / "bin" / "sbatch"
        sbatch.write_text(SBATCH)
        sbatch.chmod(sbatch.stat().st_mode | stat.S_IXUSR)
        cls.write_files()
        cls.run_commands()

    @classmethod
    def write_files(cls):
        """Writes the files: a block after a name and a colon is the content of that file."""
        text = PAGE.read_text()
        found = re.findall(r"`([\w.]+)`:\n\n```(?:json|cmake)\n(.*?)```", text, re.S)
        assert {name for name, _ in found} == {"zoo.json", "CMakeLists.txt"}, found
        for name, content in found:
            (cls.work / name).write_text(content)

    @classmethod
    def run_commands(cls):
        cls.blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.S)
        assert len(cls.blocks) >= 8
        env = {**environment(), "PATH": f"{cls.prefix}/bin:{os.environ['PATH']}", "NNAPI_CONVERT_BUILD": str(BUILD)}
        cls.output = ""
        for block in cls.blocks:
            done = subprocess.run(["bash", "-ec", block], cwd=cls.work, env=env, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            assert done.returncode == 0, f"{block}\nexit code {done.returncode}\n{done.stdout}"
            cls.output += done.stdout

    def test_batch(self):
        out = self.work / "converted"
        self.assertEqual({"converted": 3}, json.loads((out / "summary.json").read_text())["counts"])
        for name in MODELS:
            self.assertTrue((out / name).exists())
            self.assertTrue((out / name).with_suffix(".report.json").exists())
        names = [entry["name"]
                 for entry in json.loads((self.work / "converted_quantised" / "summary.json").read_text())["models"]]
        self.assertEqual(["quantised"], names)

    def test_manifest_and_gate(self):
        summary = json.loads((self.work / "converted_zoo" / "summary.json").read_text())
        quants = {entry["name"]: entry["quant"] for entry in summary["models"]}
        self.assertEqual({"models/classifier": "none", "quantised_full": "full", "quantised_core": "core"}, quants)
        self.assertIn("## Against the baseline\n\nNothing changed.", self.output)
        self.assertIn("; 3 up to date;", self.output)

    def test_cmake(self):
        self.assertEqual(b"PK", (self.work / "build" / "assets" / "classifier.pt").read_bytes()[:2])

    def test_schedulers(self):
        for folder in ("by_parallel", "by_slurm"):
            for name in ("classifier.pt", "quantised.pt"):
                with self.subTest(folder=folder, name=name):
                    self.assertEqual((self.work / "converted" / name).read_bytes(),
                                     (self.work / folder / name).read_bytes())

    def test_tables_name_all_codes_and_statuses(self):
        text = PAGE.read_text().replace("`--baseline`", "--baseline")
        schema = json.loads((ROOT / "schemas" / "batch_summary.schema.json").read_text())
        for status in schema["$defs"]["status"]["enum"]:
            self.assertIn(f"`{status}`", text, status)
        help_text = run(self.prefix / "bin" / "nnapi-convert", "batch", "--help-all")
        for code, meaning in re.findall(r"^  (\d+) +(\S.*)$", help_text[help_text.index("Exit codes:"):], re.M):
            with self.subTest(code=code):
                self.assertTrue(f"| {code} | {meaning[:12]}" in text)


if __name__ == "__main__":
    unittest.main()
