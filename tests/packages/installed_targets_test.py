# SPDX-License-Identifier: BSD-3-Clause
"""After scripts/demo.sh, `cmake --install` finds all files that it copies: the targets that the script builds make them."""

import os
import re
import subprocess
import unittest

from installed import BUILD, ROOT

INSTALLED = re.compile(r'TYPE (?:EXECUTABLE|SHARED_LIBRARY|STATIC_LIBRARY|MODULE)[^)]*? FILES "([^"]+)"', re.S)
OBJECTS = re.compile(r'FILES "([^"]+\.o)"')


def files_to_install():
    """The programs and libraries in the scripts by which CMake installs, those of all folders."""
    texts = [path.read_text() for path in BUILD.rglob("cmake_install.cmake")]
    found = {name for text in texts for pattern in (INSTALLED, OBJECTS) for name in pattern.findall(text)}
    return {os.path.relpath(name, BUILD) for name in found}


class Targets(unittest.TestCase):
    maxDiff = None

    def test_demo_builds_what_is_installed(self):
        targets = re.search(r"cmake --build .*--target (.+)", (ROOT / "scripts/demo.sh").read_text())[1].split()
        graph = subprocess.run(["ninja", "-C", BUILD, "-t", "graph", *targets], capture_output=True, text=True, check=True)
        made = set(re.findall(r'label="([^"]+)"', graph.stdout))
        files = files_to_install()
        for needed in ("bin/nnapi-convert", "bin/nnapi-bench", "lib/host/level1/libneuralnetworks.so"):
            self.assertIn(needed, files)
        self.assertEqual(set(), files - made)


if __name__ == "__main__":
    unittest.main()
