# SPDX-License-Identifier: BSD-3-Clause
"""Files whose names are not UTF-8, which Linux allows: each command works, and what it writes as JSON or XML is either."""

import json
import os
import shutil
import unittest
import xml.etree.ElementTree

from cli import CliTest, run

IMAGE = ("--input", "1,3,16,16", "--nhwc")


class OddNames(CliTest):
    def setUp(self):
        super().setUp()
        self.models = self.folder / "models"
        self.models.mkdir()
        self.model = self.models / os.fsdecode(b"caf\xe9 <&\xff>.pt")
        self.out = self.folder / os.fsdecode(b"out\xe9.pt")
        shutil.copy(self.fixture("residual.pt"), self.model)

    def run_json(self, *arguments):
        return json.loads(self.succeed(*arguments, "--format", "json", env={}).stdout)

    def test_check(self):
        self.assertIn("caf\ufffd <&\ufffd>.pt", self.run_json("check", self.model, *IMAGE)["model"])
        shutil.copy(self.fixture("refused.pt"), self.model)
        self.run_json("check", self.model, *IMAGE, "--min-segment-macs", "0")

    def test_conversion(self):
        report, page = self.folder / os.fsdecode(b"r\xe9.json"), self.folder / "report.html"
        self.succeed(self.model, *IMAGE, "--verify", "--report", report, "--report", page, "-o", self.out, env={})
        json.loads(report.read_text(encoding="utf-8"))
        page.read_text(encoding="utf-8")
        self.run_json("verify", self.model, self.out)
        self.run_json("inspect", self.out)
        for form in ("text", "html", "dot"):
            self.succeed("inspect", self.out, "--format", form, env={})

    def test_batch(self):
        shutil.copy(self.fixture("refused.pt"), self.models / os.fsdecode(b"refused\xe9.pt"))
        out = self.folder / "converted"
        self.assertEqual(1, run("batch", self.models, "-o", out, *IMAGE, "--keep-going", env={}).code)
        json.loads((out / "summary.json").read_text(encoding="utf-8"))
        suite = xml.etree.ElementTree.parse(out / "summary.xml").getroot()
        self.assertEqual({"caf\ufffd <&\ufffd>", "refused\ufffd"}, {case.get("name") for case in suite})


if __name__ == "__main__":
    unittest.main()
