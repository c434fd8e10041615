# SPDX-License-Identifier: BSD-3-Clause
"""batch --baseline: what got worse than in an earlier run fails, and the table says what changed."""

import json
import unittest

from batch_cli import BatchTest
from cli import run, unchanged


class Baseline(BatchTest):
    def setUp(self):
        super().setUp()
        self.add("bundled.pt", "quant.pt", "refused.pt")
        self.path = self.folder / "last.json"
        self.options = ["--nhwc", "--input", "1,3,16,16", "--verify", "--keep-going"]
        self.batch(*self.options, code=1)
        self.earlier = self.summary()
        self.save()

    def save(self):
        self.path.write_text(json.dumps(self.earlier))

    def change(self, name: str, **values):
        """Makes the earlier run another one."""
        entry = next(entry for entry in self.earlier["models"] if entry["name"] == name)
        entry.update(values)
        self.save()

    def compare(self, code, *arguments):
        result = self.batch(*self.options, "--resume", "--baseline", self.path, *arguments, code=code)
        table = result.stdout[result.stdout.index("## Against the baseline"):]
        self.assertTrue((self.out / "summary.md").read_text().endswith(table))
        return table

    def row(self, table: str, name: str, what: str):
        found = [line for line in table.splitlines() if line.startswith(f"| {name} | {what} |")]
        self.assertEqual(1, len(found), table)
        return [cell.strip() for cell in found[0].strip("|").split("|")][2:]

    def now(self, name: str, key: str):
        return self.entry(name)[key]

    def test_nothing_changed(self):
        """A model that was refused before is no regression."""
        self.assertIn("Nothing changed.", self.compare(0))

    def test_folder_instead_of_a_summary(self):
        result = self.batch(*self.options, "--baseline", self.folder, out=self.folder / "other", code=3)
        self.assertIn(str(self.folder), result.stderr)
        self.assertFalse((self.folder / "other").exists())

    def test_more_operations(self):
        self.change("quant", operation_count=5)
        table = self.compare(5)
        self.assertEqual(["5", "6", "+20.00 %", "**worse**"], self.row(table, "quant", "operations"))
        self.assertIn("1 changes, 1 of them regressions", table)
        self.assertIn("within the limit", self.compare(0, "--limit", "operations=20"))
        self.compare(5, "--limit", "operations=19.9")

    def test_fewer_operations(self):
        self.change("quant", operation_count=8)
        self.assertEqual(["8", "6", "-25.00 %", "better"], self.row(self.compare(0), "quant", "operations"))

    def test_larger_file(self):
        size = self.now("quant", "file_bytes")
        self.change("quant", file_bytes=round(size / 1.005))
        self.assertEqual("within the limit", self.row(self.compare(0), "quant", "size")[-1])
        self.change("quant", file_bytes=round(size / 1.05))
        self.assertEqual("**worse**", self.row(self.compare(5), "quant", "size")[-1])
        self.compare(0, "--limit", "size=6")

    def test_lower_snr(self):
        self.change("bundled", snr_db=self.now("bundled", "snr_db") + 2)
        self.assertEqual(["-2", "**worse**"], self.row(self.compare(5), "bundled", "snr")[-2:])
        self.compare(0, "--limit", "snr=2.01")
        self.change("bundled", snr_db=None)
        self.assertEqual("equal", self.row(self.compare(5), "bundled", "snr")[0])

    def test_snr_that_is_not_measured_any_more(self):
        self.options.remove("--verify")
        self.assertEqual("**not measured**", self.row(self.compare(5), "quant", "snr")[-1])

    def test_mac_share_segments_and_level(self):
        self.change("quant", segments=2, mac_share=0.5)
        self.compare(0)
        table = self.compare(0)
        self.assertEqual(["2", "1", "-1", "better"], self.row(table, "quant", "segments"))
        self.assertEqual(["50", "100", "+50", "better"], self.row(table, "quant", "mac-share"))
        self.change("quant", mac_share=1.0, segments=1, feature_level=0)
        self.assertEqual(["0", "1", "+1", "**worse**"], self.row(self.compare(5), "quant", "level"))
        self.compare(0, "--limit", "level=1")

    def test_status(self):
        self.change("refused", status="converted", operation_count=3)
        self.assertEqual(["converted", "refused", "", "**worse**"],
                         self.row(self.compare(5), "refused", "status"))
        self.change("refused", status="refused")
        self.change("quant", status="crashed")
        self.assertEqual(["crashed", "converted", "", "better"], self.row(self.compare(0), "quant", "status"))

    def test_models_that_come_and_go(self):
        self.earlier["models"].append({**self.earlier["models"][0], "name": "gone"})
        self.save()
        self.assertEqual(["converted", "-", "", "**missing**"], self.row(self.compare(5), "gone", "status"))
        self.earlier["models"] = [entry for entry in self.earlier["models"] if entry["name"] == "refused"]
        self.save()
        self.assertEqual(["-", "converted", "", "new"], self.row(self.compare(0), "quant", "status"))
        self.earlier["models"] = []
        self.save()
        self.assertEqual(["-", "refused", "", "new"], self.row(self.compare(1), "refused", "status"))

    def test_baseline_is_not_replaced(self):
        with unchanged(self, self.out / "summary.json"):
            self.fail_with(2, "batch", self.zoo, "-o", self.out, *self.options, "--baseline", self.out / "summary.json",
                           needed=["is the same file as --baseline"])

    def test_baseline_that_is_none(self):
        for text, needed in [("", "no JSON"), ("{", "no JSON"), ("[]", "no summary"), ('{"version": 1}', "no summary"),
                             ('{"version": 2, "models": []}', "no summary"),
                             ('{"version": 1, "models": [3]}', "no summary"),
                             ('{"version": 1, "models": [{"name": "x", "status": "converted", '
                              '"operation_count": "7"}]}', "no summary")]:
            self.path.write_text(text)
            result = run("batch", self.zoo, "-o", self.out, "--baseline", self.path)
            self.assertEqual((3, ""), (result.code, result.stdout), f"\n{result}")
            self.assertIn(f"last.json: {needed}", result.stderr)


if __name__ == "__main__":
    unittest.main()
