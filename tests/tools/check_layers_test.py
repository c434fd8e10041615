"""scripts/check_layers.py: what it finds in trees that break the table, a fault each."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_layers.py"
GOOD = {
    "lib/base/text.h": "",
    "lib/base/text.cpp": '#include "lib/base/text.h"\n#include <string>\n',
    "lib/ops/rule.h": '#include "lib/base/text.h"\n',
    "lib/ops/rule.cpp": '#include "lib/ops/rule.h"\n#include "not/ours.h"\n',
    "tools/main.cpp": '#include "lib/ops/rule.h"\n',
}
TABLE = "lib/base:\nlib/ops: lib/base\ntools: lib/ops\n"


class CheckLayers(unittest.TestCase):
    def faults(self, files, table=TABLE):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**GOOD, **files, "docs/architecture.md": f"# Page\n\n```layers\n{table}```\n"}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, "--root", root], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return done.stdout

    def test_a_good_tree(self):
        self.assertEqual(self.faults({}), "")

    def test_an_arrow_that_the_table_has_not(self):
        self.assertIn("lib/base/text.cpp: includes lib/ops/rule.h, and docs/architecture.md doesn't let lib/base",
                      self.faults({"lib/base/text.cpp": '  #  include "lib/ops/rule.h"\n'}))

    def test_an_arrow_that_nothing_uses(self):
        self.assertIn("tools may include lib/base, and doesn't",
                      self.faults({}, TABLE.replace("lib/ops\n", "lib/ops lib/base\n")))

    def test_a_folder_without_a_line_and_a_line_without_a_folder(self):
        self.assertIn("lib/new is not in the table", self.faults({"lib/new/unit.h": ""}))
        self.assertIn("lib/old is no folder with sources", self.faults({}, TABLE + "lib/old:\n"))

    def test_a_circle_of_units(self):
        found = self.faults({"lib/ops/other.h": '#include "lib/ops/rule.h"\n',
                             "lib/ops/rule.cpp": '#include "lib/ops/other.h"\n'})
        self.assertIn("units include each other in a circle: lib/ops/other, lib/ops/rule", found)

    def test_a_circle_of_folders(self):
        found = self.faults({"lib/base/more.h": '#include "lib/ops/leaf.h"\n', "lib/ops/leaf.h": ""},
                            TABLE.replace("lib/base:", "lib/base: lib/ops"))
        self.assertIn("folders include each other in a circle: lib/base, lib/ops", found)
        self.assertNotIn("units include", found)

    def test_too_many_units(self):
        files = {f"lib/converter/load/unit_{number}.h": "" for number in range(26)}
        self.assertIn("lib/converter/load: 26 units, 25 allowed", self.faults(files, TABLE + "lib/converter/load:\n"))

    def test_a_table_that_is_none(self):
        self.assertIn("'lib/base': needed is 'folder: folders'", self.faults({}, "lib/base\n"))


if __name__ == "__main__":
    unittest.main()
