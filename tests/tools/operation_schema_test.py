# SPDX-License-Identifier: BSD-3-Clause
"""The generator of the operations' table refuses a row that leaves something unsaid."""

import copy
import json
import sys
import unittest

from cli import ROOT

sys.path.insert(0, str(ROOT / "scripts/generate"))
import generate_operations  # noqa: E402


class OperationSchema(unittest.TestCase):
    schema = json.loads((ROOT / generate_operations.SCHEMA).read_text())

    def refusal(self, change) -> str:
        operation = copy.deepcopy(self.schema["operations"][0])
        change(operation)
        with self.assertRaises(generate_operations.SchemaError) as raised:
            generate_operations.traits_row(operation)
        return str(raised.exception)

    def test_an_operation_without_traits(self):
        self.assertIn("ADD: no traits", self.refusal(lambda operation: operation.pop("traits")))

    def test_unknown_words(self):
        self.assertIn("trait fast is none of", self.refusal(lambda operation: operation["traits"].append("fast")))
        self.assertIn("integers few is none of", self.refusal(lambda operation: operation.update(integers="few")))


if __name__ == "__main__":
    unittest.main()
