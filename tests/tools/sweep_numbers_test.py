# SPDX-License-Identifier: BSD-3-Clause
"""A short run of scripts/sweeps/sweep_numbers.py finds no silently wrong number."""

import os
import re
import subprocess
import sys
import unittest

from cli import PROGRAM, ROOT


class SweepNumbers(unittest.TestCase):
    def test_finds_no_fault(self):
        command = [sys.executable, "-W", "ignore", str(ROOT / "scripts" / "sweeps" / "sweep_numbers.py"), "--count", "54",
                   "--seed", "3"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=500,
                              env={**os.environ, "NNAPI_CONVERT": PROGRAM})
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        agreed = [int(row.split("|")[3]) for row in re.findall(r"^\| [a-z].*\|$", done.stdout, re.M)[1:]]
        self.assertGreater(sum(agreed), 14, done.stdout)


if __name__ == "__main__":
    unittest.main()
