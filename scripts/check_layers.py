#!/usr/bin/python3
"""Checks which folders of lib and tools include which, by the table in docs/architecture.md.

    check_layers.py [--root DIR]

A unit is a header with its source (lib/base/dim.h and lib/base/dim.cpp). What has to hold:
  - a folder includes only folders that its line of the table names;
  - the table has a line for each folder, and each arrow of the table is used;
  - no units, and no folders, include each other in a circle;
  - no folder of lib/converter has more than 25 units.
Exit code 1, and a line for each fault, where something doesn't hold.
"""
import argparse
import collections
import pathlib
import re
import sys

TABLE = pathlib.Path("docs/architecture.md")
TABLE_FENCE = "```layers"
ROOTS = ("lib", "tools")
MOST_UNITS = 25
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def read_table(text):
    """Reads lines "folder: folder folder" into {folder: folders that it may include}."""
    if text.count(TABLE_FENCE) != 1:
        sys.exit(f"{TABLE}: one block that starts with {TABLE_FENCE} needed, {text.count(TABLE_FENCE)} found")
    block = text.split(TABLE_FENCE + "\n")[1].split("```")[0]
    table = {}
    for line in block.splitlines():
        folder, colon, allowed = line.partition(":")
        if not colon or folder.strip() in table:
            sys.exit(f"{TABLE}: {line!r}: needed is 'folder: folders', once for each folder")
        table[folder.strip()] = allowed.split()
    return table


def sources(root):
    for top in ROOTS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path.relative_to(root)


def read_includes(root):
    """Returns [(file, included file)] for the project's own included files."""
    files = set(sources(root))
    for file in sorted(files):
        for name in INCLUDE.findall((root / file).read_text(encoding="utf-8")):
            if pathlib.Path(name) in files:
                yield file, pathlib.Path(name)


def circles(arrows):
    """Returns the strongly connected components with more than one member (Tarjan's algorithm)."""
    order, lowest, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for other in sorted(arrows.get(node, ())):
            if other not in order:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == order[node]:
            members = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(members) > 1:
                found.append(sorted(members))

    for node in sorted(arrows):
        if node not in order:
            visit(node)
    return found


def check(root):
    table = read_table((root / TABLE).read_text(encoding="utf-8"))
    faults = []
    units, folders = collections.defaultdict(set), collections.defaultdict(set)
    unit_counts = collections.defaultdict(set)
    for file in sources(root):
        unit_counts[str(file.parent)].add(file.stem)
    for file, included in read_includes(root):
        if file.with_suffix("") != included.with_suffix(""):
            units[str(file.with_suffix(""))].add(str(included.with_suffix("")))
        here, there = str(file.parent), str(included.parent)
        if here == there:
            continue
        folders[here].add(there)
        if there not in table.get(here, ()):
            faults.append(f"{file}: includes {included}, and {TABLE} doesn't let {here} include {there}")
    for folder in sorted(unit_counts.keys() ^ table.keys()):
        what = "not in the table" if folder in unit_counts else "no folder with sources"
        faults.append(f"{TABLE}: {folder} is {what}")
    for folder, allowed in sorted(table.items()):
        for other in allowed:
            if folder in unit_counts and other not in folders[folder]:
                faults.append(f"{TABLE}: {folder} may include {other}, and doesn't")
    for kind, arrows in (("units", units), ("folders", folders), ("folders of the table", table)):
        faults += [f"{kind} include each other in a circle: {', '.join(circle)}" for circle in circles(arrows)]
    for folder, names in sorted(unit_counts.items()):
        if folder.startswith("lib/converter") and len(names) > MOST_UNITS:
            faults.append(f"{folder}: {len(names)} units, {MOST_UNITS} allowed")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    faults = check(parser.parse_args().root)
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
