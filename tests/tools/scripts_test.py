# SPDX-License-Identifier: BSD-3-Clause
"""scripts/README.md names each script."""

import re
import unittest

from cli import ROOT

SCRIPTS = ROOT / "scripts"
FOLDERS = ("makers", "generate", "checks", "sweeps", "packages", "systems")


class ScriptsPage(unittest.TestCase):
    named = set(re.findall(r"`([\w-]+\.(?:sh|py|json))`", (SCRIPTS / "README.md").read_text()))

    def files(self):
        folders = [SCRIPTS, *(SCRIPTS / name for name in FOLDERS)]
        return {path.name for folder in folders for path in folder.iterdir() if path.is_file()} - {"README.md"}

    def test_each_script_stands_there(self):
        self.assertEqual(set(), self.files() - self.named)

    def test_what_stands_there_is_a_script(self):
        self.assertEqual(set(), self.named - self.files() - {"nnapi_operations.json", "driver_rules.json"})

    def test_no_other_folder(self):
        folders = {path.name for path in SCRIPTS.iterdir() if path.is_dir()} - {"__pycache__"}
        self.assertEqual({*FOLDERS, "models"}, folders)


if __name__ == "__main__":
    unittest.main()
