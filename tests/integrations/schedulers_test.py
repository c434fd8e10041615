# SPDX-License-Identifier: BSD-3-Clause
"""docs/pipelines.md: its scripts for Dask and Ray, run as they stand, each with two workers.

NNAPI_CONVERT_SCHEDULERS is the Python of a venv with the wheel, Dask and Ray; scripts/systems/test-integrations.sh makes it."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from typing import Dict, List

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "testdata" / "models"
PYTHON = os.environ.get("NNAPI_CONVERT_SCHEDULERS", "")
GOOD = ["bundled", "depthwise", "mlp", "quant"]
SCRIPTS = {"by_dask": "n_workers=2", "by_ray": "num_cpus=2"}
# An error of a worker is of the module's own class where it arrives, with all that it had.
CAUGHT = """
import nnapi_convert
{imported}
if __name__ == "__main__":
    {start}
    words = {{"model": "models/refused.pt", "output": "out.pt", "input": "1,4,4", "fallback": "none"}}
    try:
        {call}
    except nnapi_convert.NotConvertible as error:
        assert error.code == 1 and error.report["refusals"] == error.refusals, vars(error)
        print("caught", error.refusals)
"""
CALLS = {
    "Dask": ("from dask.distributed import Client", "client = Client(n_workers=1, threads_per_worker=1)",
             "client.submit(nnapi_convert.convert, **words).result()"),
    "Ray": ("import ray", "ray.init(num_cpus=1)", "ray.get(ray.remote(nnapi_convert.convert).remote(**words))"),
}


@unittest.skipUnless(PYTHON, "NNAPI_CONVERT_SCHEDULERS names no Python with the wheel, Dask and Ray")
class Schedulers(unittest.TestCase):
    maxDiff = None

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="nnapi-convert-test-")
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        # The schedulers' own files go with the folder, and Ray asks for no address outside.
        self.environment = {**os.environ, "HOME": folder.name, "RAY_TMPDIR": folder.name, "RAY_USAGE_STATS_ENABLED": "0"}
        self.environment.pop("PYTHONPATH", None)
        (self.work / "models").mkdir()
        for name in [*GOOD, "refused"]:
            shutil.copyfile(FIXTURES / f"{name}.pt", self.work / "models" / f"{name}.pt")
        (self.work / "models" / "torn.pt").write_bytes((FIXTURES / "bundled.pt").read_bytes()[:5000])
        self.program = self.run_python(0, "-c", "import nnapi_convert; print(nnapi_convert.program_path())").strip()
        self.assertIn("/site-packages/nnapi_convert/bundle/", self.program, "the wheel's own")

    def run_python(self, code: int, *words: str) -> str:
        done = subprocess.run([PYTHON, *words], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        self.assertEqual(code, done.returncode, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def command(self, *words: str) -> List[str]:
        """The lines of stderr, without warnings."""
        done = subprocess.run([self.program, *words], cwd=self.work, env=self.environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        return [line for line in done.stderr.splitlines() if ": warning: " not in line]

    def expected(self) -> Dict[str, str]:
        """The summary by the command, whose results are in `alone`."""
        (self.work / "alone").mkdir()
        expected = {}
        for path in sorted((self.work / "models").iterdir()):
            lines = self.command(f"models/{path.name}", "--nhwc", "-o", f"alone/{path.name}")
            text = "\n".join(lines).replace("nnapi-convert: error: ", "")
            expected[f"models/{path.name}"] = text or "converted"
        return expected

    def test_the_pages_scripts(self) -> None:
        found = dict(re.findall(r"`(\w+)\.py`:\n\n```python\n(.*?)```", (ROOT / "docs" / "pipelines.md").read_text(), re.S))
        self.assertEqual(set(SCRIPTS), set(found))
        expected = self.expected()
        failed = [name for name, text in expected.items() if text != "converted"]
        self.assertEqual(["models/refused.pt", "models/torn.pt"], failed)
        for name, workers in SCRIPTS.items():
            with self.subTest(name):
                self.assertIn(workers, found[name])
                (self.work / f"{name}.py").write_text(found[name])
                self.run_python(1, f"{name}.py")
                self.assertEqual(expected, json.loads((self.work / name / "summary.json").read_text()))
                self.assertEqual({"summary.json", *(f"{model}.pt" for model in GOOD)}, set(os.listdir(self.work / name)))
                for model in GOOD:
                    self.assertEqual((self.work / "alone" / f"{model}.pt").read_bytes(),
                                     (self.work / name / f"{model}.pt").read_bytes(), model)
        for model in failed:
            (self.work / model).unlink()
        for name in SCRIPTS:
            with self.subTest(name, failing=0):
                self.run_python(0, f"{name}.py")
                self.assertEqual({"converted"}, set(json.loads((self.work / name / "summary.json").read_text()).values()))

    def test_errors_keep_their_class_and_data(self) -> None:
        for name, (imported, start, call) in CALLS.items():
            with self.subTest(name):
                (self.work / "caught.py").write_text(CAUGHT.format(imported=imported, start=start, call=call))
                self.assertRegex(self.run_python(0, "caught.py"), "caught .*aten::linalg_matrix_exp")


if __name__ == "__main__":
    unittest.main()
