"""The profiles of testdata fit the schema of device profiles, and the schema is one."""

import json
import pathlib
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "schemas/device_profile.schema.json").read_text())


class ProfileSchema(unittest.TestCase):
    def test_schema_itself(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_profiles(self):
        profiles = sorted((ROOT / "testdata/profiles").glob("*.json"))
        self.assertTrue(profiles)
        for profile in profiles:
            with self.subTest(profile.name):
                jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(profile.read_text()))

    def test_names_are_the_operations_tables(self):
        table = json.loads((ROOT / "schemas/nnapi_operations.json").read_text())
        operations = {operation["name"] for operation in table["operations"]}
        for profile in (ROOT / "testdata/profiles").glob("*.json"):
            content = json.loads(profile.read_text())
            for rule in content.get("accepts", []) + content.get("refuses", []):
                self.assertLessEqual(set(rule.get("operations", [])), operations)


if __name__ == "__main__":
    unittest.main()
