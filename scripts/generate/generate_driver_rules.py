#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes lib/shim/driver_rules_text.inc from schemas/driver_rules.json: the rules that the shim has in itself.

Run it after an edit of the rules and commit both; with --check it writes nothing and exits 1 if the file is stale. What
the shim has no use for is left out: the sources, and white space.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = "schemas/driver_rules.json"
OUTPUT = "lib/shim/driver_rules_text.inc"
BANNER = f"// SPDX-License-Identifier: BSD-3-Clause\n// Generated from {RULES} by scripts/generate/generate_driver_rules.py, do not edit.\n"


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def text_of(rules):
    lines = [compact({key: value for key, value in rule.items() if key != "sources"}) for rule in rules["rules"]]
    return BANNER + f'R"json({{"version":{rules["version"]},"rules":[\n' + ",\n".join(lines) + '\n]})json"\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if the committed file is stale")
    check = parser.parse_args().check
    rules = json.loads((ROOT / RULES).read_text())
    for rule in rules["rules"]:
        if not rule.get("sources"):
            sys.exit(f"generate_driver_rules.py: {RULES}: the rule \"{rule['reason']}\" names no public report")
    text = text_of(rules)
    path = ROOT / OUTPUT
    if path.exists() and path.read_text() == text:
        return
    if check:
        sys.exit(f"generate_driver_rules.py: stale, run scripts/generate/generate_driver_rules.py: {OUTPUT}")
    path.write_text(text)


if __name__ == "__main__":
    main()
