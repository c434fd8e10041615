# SPDX-License-Identifier: BSD-3-Clause
"""docs/pipelines.md: its commands, run in their order as they stand, and what they leave."""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

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
