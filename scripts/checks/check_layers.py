#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks which folders of lib and tools include which, by the order and the laws in docs/architecture.md.

    check_layers.py [--root DIR]

A unit is a header with its source (lib/base/dim.h and lib/base/dim.cpp). What has to hold:
  - the order names each folder with sources once, the foundations first, and a folder includes only folders that stand
    before it;
  - no law is broken: "A: B, C" says that the folder A, or folders under A, include no folder but B and C;
  - no units include each other in a circle;
  - lib has at most 22 folders with sources.
Exit code 1, and a line for each fault, where something doesn't hold.
"""
import argparse
import collections
import pathlib
import re
import sys

PAGE = pathlib.Path("docs/architecture.md")
ROOTS = ("lib", "tools")
MOST_FOLDERS = 22
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def read_block(text, name):
    """Returns the lines of the block of the page that begins with ```name."""
    fence = f"```{name}\n"
    if text.count(fence) != 1:
        sys.exit(f"{PAGE}: one block that starts with ```{name} needed, {text.count(fence)} found")
    return text.split(fence)[1].split("```")[0].splitlines()


def read_order(text):
    """Returns the folders in their order. What stands behind two spaces says what a folder is for."""
    return [line.split("  ")[0].strip() for line in read_block(text, "order") if line.strip()]


def read_laws(text):
    """Returns [(folder, folders that it may include)]."""
    laws = []
    for line in read_block(text, "laws"):
        folder, colon, allowed = line.partition(":")
        if not colon:
            sys.exit(f"{PAGE}: {line!r}: needed is 'folder: folders'")
        laws.append((folder.strip(), [name.strip() for name in allowed.split(",") if name.strip()]))
    return laws


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


def is_under(folder, parent):
    return folder == parent or folder.startswith(parent + "/")


def check_order(order, folders):
    faults = [f"{PAGE}: {folder} stands twice in the order" for folder, n in collections.Counter(order).items() if n > 1]
    for folder in sorted(folders ^ set(order)):
        what = "not in the order" if folder in folders else "no folder with sources"
        faults.append(f"{PAGE}: {folder} is {what}")
    return faults


def check(root):
    text = (root / PAGE).read_text(encoding="utf-8")
    order, laws = read_order(text), read_laws(text)
    folders = {str(file.parent) for file in sources(root)}
    faults = check_order(order, folders)
    place = {folder: number for number, folder in enumerate(order)}
    units = collections.defaultdict(set)
    for file, included in read_includes(root):
        if file.with_suffix("") != included.with_suffix(""):
            units[str(file.with_suffix(""))].add(str(included.with_suffix("")))
        here, there = str(file.parent), str(included.parent)
        if here == there or here not in place or there not in place:
            continue
        if place[there] > place[here]:
            faults.append(f"{file}: includes {included}, and {there} stands behind {here} in the order of {PAGE}")
        for folder, allowed in laws:
            if is_under(here, folder) and not any(is_under(there, each) for each in [folder, *allowed]):
                faults.append(f"{file}: includes {included}, and {folder} may include {', '.join(allowed) or 'nothing'}")
    faults += [f"units include each other in a circle: {', '.join(circle)}" for circle in circles(units)]
    in_lib = sorted(folder for folder in folders if folder.startswith("lib/"))
    if len(in_lib) > MOST_FOLDERS:
        faults.append(f"lib has {len(in_lib)} folders with sources, at most {MOST_FOLDERS} allowed: {', '.join(in_lib)}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    faults = check(parser.parse_args().root)
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
