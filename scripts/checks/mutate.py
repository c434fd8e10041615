#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tells which changes by one token no test notices. It chooses places of lib by a seed, builds all changes at once, each
behind a switch, finds which tests reach each place, and runs these tests, with one change on at a time, until one fails:
first those that are short and reach few places. Prints a line for each change that no test noticed, and the share that was.

    scripts/checks/mutate.py                        300 places (build/mutants: half an hour to build, then about two hours)
    scripts/checks/mutate.py --under lib/litert --places 30 --tests '^litert'
    scripts/checks/mutate.py --list                 the places alone

Results stay in build/mutants/results.tsv: a second call with the same seed goes on where the first one ended."""

import argparse
import collections
import dataclasses
import json
import mmap
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import time
from typing import Dict, List, Set, Tuple

import mutation_sites

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHORTEST_LIMIT = 20.0  # seconds that a test gets at least
LIMIT_FACTOR = 6.0  # of the time that it took without a change
LINE_OF_ERROR = re.compile(r"([\w/.-]+\.(?:cpp|h)):(\d+):(?:\d+:)? error")
HEADER = """// Switches of changes by one token. All processes share the file: the number of the change that is on, then a byte for
// each place that was reached.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mutation {{
inline volatile unsigned char* state() {{
  static volatile unsigned char* const result = []() -> volatile unsigned char* {{
    const int file = ::open("{state}", O_RDWR | O_CLOEXEC);
    void* memory = file < 0 ? MAP_FAILED : ::mmap(nullptr, {size}, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) ::close(file);
    static unsigned char nothing[{size}];
    return memory == MAP_FAILED ? nothing : static_cast<volatile unsigned char*>(memory);
  }}();
  return result;
}}
constexpr bool is_on(int number) {{
  if (__builtin_is_constant_evaluated()) return false;
  volatile unsigned char* const bytes = state();
  bytes[4 + number] = 1;
  return *reinterpret_cast<volatile int*>(bytes) == number;
}}
}}  // namespace mutation
"""


class State:
    """The file that all processes under test share."""

    def __init__(self, path: pathlib.Path, count: int):
        self.size = 4 + count + 1
        path.write_bytes(bytes(self.size))
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), self.size)

    def turn_on(self, number: int) -> None:
        self.memory[:] = struct.pack("i", number) + bytes(self.size - 4)

    def reached(self) -> Set[int]:
        return {index - 4 for index in range(4, self.size) if self.memory[index]}


@dataclasses.dataclass
class Test:
    name: str
    command: List[str]
    folder: str
    environment: Dict[str, str]
    seconds: float = 0.0

    def passes(self, limit: float) -> bool:
        start = time.monotonic()
        process = subprocess.Popen(self.command, cwd=self.folder, env={**os.environ, **self.environment},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = 1
        finally:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass
            process.wait()
        self.seconds = time.monotonic() - start
        return code == 0


def sources(under: str) -> List[str]:
    listed = subprocess.run(["git", "ls-files", "--", f"{under}/*.cpp"], cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.split()


def chosen_places(under: str, seed: int, count: int, refused: Set[str]) -> List[mutation_sites.Place]:
    """`count` places that don't overlap, each kind of change as often as the others; those of `refused` are passed over."""
    by_kind: Dict[str, List[mutation_sites.Place]] = collections.defaultdict(list)
    for file in sources(under):
        for place in mutation_sites.places_of(ROOT, file):
            by_kind[place.kind].append(place)
    drawn = random.Random(seed)
    for places in by_kind.values():
        drawn.shuffle(places)
    result: List[mutation_sites.Place] = []
    taken: Dict[str, List[Tuple[int, int]]] = collections.defaultdict(list)
    while len(result) < count and any(by_kind.values()):
        for places in by_kind.values():
            while places:
                place = places.pop()
                overlaps = any(place.start < end and start < place.end for start, end in taken[place.file])
                if str(place) not in refused and not overlaps:
                    taken[place.file].append((place.start, place.end))
                    result.append(place)
                    break
    return result[:count]


def lay_out_tree(tree: pathlib.Path) -> None:
    """Copies what git tracks; files that are alike stay as they are, so that a second build does little."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        source, target = ROOT / name, tree / name
        if not source.is_file():
            continue
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def write_changes(tree: pathlib.Path, places: List[mutation_sites.Place], header: pathlib.Path) -> None:
    by_file: Dict[str, List[Tuple[int, mutation_sites.Place]]] = collections.defaultdict(list)
    for number, place in enumerate(places, 1):
        by_file[place.file].append((number, place))
    for file in sources("lib"):
        text = (ROOT / file).read_text()
        if file in by_file:
            text = mutation_sites.rewritten(text, by_file[file], header)
        if (tree / file).read_text() != text:
            (tree / file).write_text(text)


def build(tree: pathlib.Path) -> Set[Tuple[str, int]]:
    """Builds; the lines that don't compile."""
    if not (tree / "build/release/build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release", "-DNNAPI_CONVERT_WERROR=OFF"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(["cmake", "--build", "--preset", "release", "--parallel", "2", "--", "-k", "0"], cwd=tree,
                          capture_output=True, text=True)
    if done.returncode == 0:
        return set()
    lines = {(match[1], int(match[2])) for match in LINE_OF_ERROR.finditer(done.stdout)}
    if not lines:
        sys.exit(f"the build failed:\n{done.stdout[-4000:]}")
    return lines


def built_places(arguments, tree: pathlib.Path, header: pathlib.Path) -> List[mutation_sites.Place]:
    """The places, of which all compile, and their build."""
    refused_file = tree.parent / "refused.txt"
    refused = set(refused_file.read_text().splitlines()) if refused_file.exists() else set()
    lay_out_tree(tree)
    while True:
        places = chosen_places(arguments.under, arguments.seed, arguments.places, refused)
        write_changes(tree, places, header)
        errors = build(tree)
        if not errors:
            return places
        bad = {str(place) for place in places for file, line in errors
               if file.endswith(place.file) and place.line <= line <= place.line + place.before.count("\n")}
        if not bad - refused:
            sys.exit(f"lines don't compile where nothing was changed: {sorted(errors)[:5]}")
        print(f"{len(bad)} changes don't compile; others take their places", flush=True)
        refused |= bad
        refused_file.write_text("\n".join(sorted(refused)) + "\n")


def tests_of(tree: pathlib.Path, pattern: str) -> List[Test]:
    command = ["ctest", "--preset", "release", "--show-only=json-v1", *(["-R", pattern, "-FA", ".*"] if pattern else [])]
    listed = json.loads(subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout)
    result = []
    for test in listed["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        if "command" not in test or "FIXTURES_SETUP" in map(str, properties) or test["name"].startswith("servers_"):
            continue
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        result.append(Test(test["name"], test["command"], properties.get("WORKING_DIRECTORY", str(tree)), environment))
    return result


def start_servers(tests: List[Test]) -> None:
    """Starts what loads PyTorch once for all tests; it ends with this process."""
    environment = next((test.environment for test in tests if "NNAPI_TEST_SERVERS" in test.environment), None)
    if environment is not None:
        script = next(test for test in tests if test.environment == environment).folder + "/servers.py"
        subprocess.run(["/usr/bin/python3", script, "start"], env={**os.environ, **environment}, check=False)


def reach(tests: List[Test], state: State, count: int) -> Dict[int, List[Test]]:
    """The tests that reach each change, those that are short and reach few others first; tests that fail without a change are
    left out."""
    result: Dict[int, List[Test]] = {number: [] for number in range(1, count + 1)}
    for test in tests:
        state.turn_on(0)
        if not test.passes(1200):
            print(f"{test.name} fails without a change: left out", flush=True)
            continue
        for number in state.reached():
            if number in result:
                result[number].append(test)
    reached = collections.Counter(test.name for found in result.values() for test in found)
    for found in result.values():
        found.sort(key=lambda test: test.seconds * reached[test.name])
    return result


def judge(number: int, tests: List[Test], state: State, budget: float) -> str:
    """The test that noticed the change; "" where none did."""
    started = time.monotonic()
    usual = {test.name: test.seconds for test in tests}
    for test in tests:
        if time.monotonic() - started > budget:
            return "?"
        state.turn_on(number)
        passed = test.passes(max(SHORTEST_LIMIT, LIMIT_FACTOR * usual[test.name]))
        test.seconds = usual[test.name]
        if not passed:
            return test.name
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--places", type=int, default=300)
    parser.add_argument("--under", default="lib", help="a folder of the sources")
    parser.add_argument("--tests", default="", help="a regular expression of the tests' names")
    parser.add_argument("--budget", type=float, default=600, help="seconds for one change; past them it counts as not noticed")
    parser.add_argument("--list", action="store_true", help="print the places and do nothing")
    arguments = parser.parse_args()
    if arguments.list:
        for number, place in enumerate(chosen_places(arguments.under, arguments.seed, arguments.places, set()), 1):
            print(f"{number}\t{place}")
        return 0
    folder = ROOT / "build/mutants"
    tree = folder / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    header, path = folder / "mutation.h", folder / "state"
    text = HEADER.format(state=path, size=4 + arguments.places + 1)
    if not header.exists() or header.read_text() != text:
        header.write_text(text)
    state = State(path, arguments.places)
    places = built_places(arguments, tree, header)
    tests = tests_of(tree, arguments.tests)
    start_servers(tests)
    results_file = folder / "results.tsv"
    known = dict(line.split("\t", 1) for line in results_file.read_text().splitlines()) if results_file.exists() else {}
    print(f"{len(places)} changes, {len(tests)} tests; first without a change", flush=True)
    tests_by_change = reach(tests, state, len(places))
    noticed = 0
    with open(results_file, "a") as results:
        for number, place in enumerate(places, 1):
            if str(place) in known:
                found = known[str(place)]
            else:
                found = judge(number, tests_by_change[number], state, arguments.budget)
                results.write(f"{place}\t{found}\n")
                results.flush()
            noticed += found not in {"", "?"}
            if found in {"", "?"}:
                reached = len(tests_by_change[number])
                print(f"{place}: {'time is over' if found else 'not noticed'}, {reached} tests reach it", flush=True)
    state.turn_on(0)
    print(f"{noticed} of {len(places)} changes noticed ({100 * noticed / max(1, len(places)):.1f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
