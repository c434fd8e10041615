"""The profiles of testdata and those that come with the program fit the schema of device profiles, and the schema is
one."""

import json
import pathlib
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


if __name__ == "__main__":
    unittest.main()
