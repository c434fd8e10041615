# SPDX-License-Identifier: BSD-3-Clause
"""scripts/checks/check_layers.py: what it finds in trees that break the order or a law, a fault each."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "checks" / "check_layers.py"
GOOD = {
    "lib/base/text.h": "",
    "lib/base/text.cpp": '#include "lib/base/text.h"\n#include <string>\n',
    "lib/ops/rule.h": '#include "lib/base/text.h"\n',
    "lib/ops/rule.cpp": '#include "lib/ops/rule.h"\n#include "not/ours.h"\n',
    "tools/main.cpp": '#include "lib/ops/rule.h"\n',
}
ORDER = "lib/base  text\nlib/ops  rules\ntools\n"
LAWS = "lib/base:\ntools: lib/ops\n"


class CheckLayers(unittest.TestCase):
    def faults(self, files, order=ORDER, laws=LAWS):
        page = f"# Page\n\n```order\n{order}```\n\n```laws\n{laws}```\n"
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**GOOD, "docs/architecture.md": page, **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, "--root", root], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return done.stdout

    def test_a_good_tree(self):
        self.assertEqual(self.faults({}), "")

    def test_an_arrow_against_the_order(self):
        self.assertIn("lib/base/text.cpp: includes lib/ops/rule.h, and lib/ops stands behind lib/base",
                      self.faults({"lib/base/text.cpp": '  #  include "lib/ops/rule.h"\n'}))

    def test_a_broken_law(self):
        self.assertIn("tools/main.cpp: includes lib/base/text.h, and tools may include lib/ops",
                      self.faults({"tools/main.cpp": '#include "lib/base/text.h"\n'}))

    def test_a_law_holds_for_folders_under_its_own(self):
        files = {"tools/part/unit.h": '#include "tools/main.h"\n#include "lib/base/text.h"\n', "tools/main.h": ""}
        found = self.faults(files, ORDER + "tools/part\n")
        self.assertIn("tools/part/unit.h: includes lib/base/text.h", found)
        self.assertEqual(1, found.count("\n"))

    def test_a_folder_that_the_order_lacks_and_one_without_sources(self):
        self.assertIn("lib/new is not in the order", self.faults({"lib/new/unit.h": ""}))
        self.assertIn("lib/old is no folder with sources", self.faults({}, ORDER + "lib/old\n"))
        self.assertIn("lib/base stands twice in the order", self.faults({}, ORDER + "lib/base\n"))

    def test_a_circle_of_units(self):
        found = self.faults({"lib/ops/other.h": '#include "lib/ops/rule.h"\n',
                             "lib/ops/rule.cpp": '#include "lib/ops/other.h"\n'})
        self.assertIn("units include each other in a circle: lib/ops/other, lib/ops/rule", found)

    def test_too_many_folders(self):
        files = {f"lib/f{number}/unit.h": "" for number in range(21)}
        order = ORDER + "".join(f"lib/f{number}\n" for number in range(21))
        self.assertIn("lib has 23 folders with sources, at most 22 allowed", self.faults(files, order))

    def test_a_law_that_is_none(self):
        self.assertIn("'lib/base': needed is 'folder: folders'", self.faults({}, laws="lib/base\n"))

    def test_a_page_without_an_order(self):
        self.assertIn("one block that starts with ```order needed, 0 found",
                      self.faults({"docs/architecture.md": "```laws\n```\n"}))


if __name__ == "__main__":
    unittest.main()
