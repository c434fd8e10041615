#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/sweeps/real_files.py: which rows are worse than older ones, and a run over a folder of models."""

import json
import os
import shutil
import subprocess
import sys
import unittest

import torch

from cli import HOST, PROGRAM, ROOT, CliTest

SCRIPT = ROOT / "scripts" / "sweeps" / "real_files.py"
sys.path.insert(0, str(SCRIPT.parent))

import real_files  # noqa: E402

MODEL = '''
import json, os, pathlib
import torch
folder = pathlib.Path(os.environ["CASE_OUT"])
torch.manual_seed(0)
torch.jit.trace(torch.nn.Linear(6, 4), torch.rand(2, 6)).save(str(folder / "model.pt"))
torch.save([(torch.rand(2, 6),), (torch.rand(2, 6),)], folder / "inputs.pt")
(folder / "case.json").write_text(json.dumps(dict(opts=["--input", "2,6"], tol=1e-4, file="model.pt")))
'''


class Rows(unittest.TestCase):
    def test_what_is_worse(self):
        whole, parts = {"outcome": "whole", "share": 1.0}, {"outcome": "parts", "share": 0.8}
        self.assertTrue(real_files.is_worse(parts, whole))
        self.assertFalse(real_files.is_worse(whole, parts))
        self.assertFalse(real_files.is_worse(parts, parts))
        self.assertTrue(real_files.is_worse({"outcome": "parts", "share": 0.7}, parts))
        self.assertTrue(real_files.is_worse({"outcome": "wrong", "share": 1.0}, {"outcome": "refused"}))

    def test_lost_detections(self):
        one = [{"boxes": torch.tensor([[0.0, 0, 10, 10], [20, 20, 30, 30]]), "labels": torch.tensor([1, 2]),
                "scores": torch.tensor([0.9, 0.8])}]
        moved = [{**one[0], "boxes": one[0]["boxes"] + torch.tensor([[1.0], [9]])}]
        self.assertEqual(0, real_files.lost_detections([one], [one]))
        self.assertEqual(0.5, real_files.lost_detections([one], [moved]))


class Folder(CliTest):
    def run_script(self, *arguments):
        environment = {**os.environ, "NNAPI_CONVERT": PROGRAM, "LD_LIBRARY_PATH": str(HOST)}
        command = [sys.executable, "-W", "ignore", SCRIPT, self.folder / "models", *arguments]
        return subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=300)

    def test_a_table_and_what_is_held_against_it(self):
        models = self.folder / "models"
        models.mkdir()
        (models / "linear.py").write_text(MODEL)
        shutil.copy(self.fixture("residual.pt"), models / "residual.pt")
        (models / "residual.pt.json").write_text(json.dumps({"options": ["--input", "1,3,8,8"], "inputs": [[1, 3, 8, 8]]}))
        (models / "damaged.pt").write_bytes(b"PK\x03\x04")
        (models / "damaged.pt.json").write_text(json.dumps({"inputs": [[1]]}))
        table = self.folder / "table.json"
        done = self.run_script("--table", table)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        rows = json.loads(table.read_text())
        outcomes = {name: row["outcome"] for name, row in rows.items()}
        self.assertEqual({"damaged.pt": "refused", "linear.py": "whole", "residual.pt": "whole"}, outcomes)
        rows["damaged.pt"] = rows["linear.py"]
        table.write_text(json.dumps(rows))
        done = self.run_script("--against", table)
        self.assertEqual(1, done.returncode)
        self.assertIn("worse than before: damaged.pt", done.stdout)


if __name__ == "__main__":
    unittest.main()
