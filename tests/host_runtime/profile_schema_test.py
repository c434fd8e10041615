# SPDX-License-Identifier: BSD-3-Clause
"""The profiles of testdata and those that come with the program fit the schema of device profiles, the driver rules fit
theirs, and the schemas are ones."""

import json
import pathlib
import subprocess
import sys
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "schemas/device_profile.schema.json").read_text())

PROFILES = sorted([*(ROOT / "testdata/profiles").glob("*.json"), *(ROOT / "schemas/profiles").glob("*.json")])


class ProfileSchema(unittest.TestCase):
    def test_schema_itself(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_profiles(self):
        self.assertLessEqual({"picky.json", "armnn-1.3.json", "quant-dsp-8.1.json"}, {path.name for path in PROFILES})
        for profile in PROFILES:
            with self.subTest(profile.name):
                jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(profile.read_text()))

    def test_names_are_the_operations_tables(self):
        table = json.loads((ROOT / "schemas/nnapi_operations.json").read_text())
        operations = {operation["name"] for operation in table["operations"]}
        for profile in PROFILES:
            content = json.loads(profile.read_text())
            for rule in content.get("accepts", []) + content.get("refuses", []):
                self.assertLessEqual(set(rule.get("operations", [])), operations)


class DriverRules(unittest.TestCase):
    schema = json.loads((ROOT / "schemas/driver_rules.schema.json").read_text())
    rules = json.loads((ROOT / "schemas/driver_rules.json").read_text())

    def test_schema_itself(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_rules(self):
        jsonschema.Draft202012Validator(self.schema).validate(self.rules)
        table = json.loads((ROOT / "schemas/nnapi_operations.json").read_text())
        operations = {operation["name"] for operation in table["operations"]}
        types = {one["name"] for one in table["operand_types"]}
        for rule in self.rules["rules"]:
            self.assertLessEqual(set(rule.get("operations", [])), operations)
            self.assertLessEqual(set(rule.get("after", [])), operations | {"INPUT"})
            self.assertLessEqual(set(rule.get("types", [])), types)

    def test_the_shim_has_these_rules(self):
        script = ROOT / "scripts/generate/generate_driver_rules.py"
        done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(0, done.returncode, done.stderr)


if __name__ == "__main__":
    unittest.main()
