# SPDX-License-Identifier: BSD-3-Clause
"""Help, versions and wrong command lines are answered at once: LibTorch stays out. When it is loaded, libraries that it
names and doesn't use stay out: empty stand-ins take their places."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from cli import PROGRAM, CliTest, environment

RUNS = 9
MOST_CPU_SECONDS = 0.02
SUBCOMMANDS = ["batch", "check", "inspect", "ops", "shim", "verify"]
HELP = [["--help"], ["--version"], *([command, "--help"] for command in SUBCOMMANDS)]
WRONG = [[], ["model.pt"], ["model.pt", "-o", "out.pt", "--unknown"], ["model.pt", "-o", "out.pt", "--input", "1,xy"],
         ["model.pt", "-o", "out.pt", "--nhwc=x"], ["model.pt", "-o", "out.pt", "--min-api", "3"],
         ["model.pt", "-o", "out.pt", "--fallback", "cpu"], ["model.pt", "-o", "out.pt", "--control-flow", "nnapi"],
         ["model.pt", "-o", "model.pt"],
         ["batch", "zoo"], ["batch", "zoo", "-o", "out", "--limit", "x=1"], ["check", "--format", "x"],
         ["inspect"], ["ops", "x"], ["shim"], ["verify", "a.pt", "b.pt", "--input", "xy"]]


MISSING = [["none.pt", "-o", "out.pt"], ["model.pt", "-o", "none/out.pt"], ["model.pt", "-o", ""],
           ["model.pt", "--litert", "none/out.tflite"], ["model.pt", "-o", "out.pt", "--report", "none/r.json"],
           ["model.pt", "-o", "out.pt", "--calibrate", "none/"], ["model.pt", "-o", "out.pt", "--labels", "none.txt"],
           ["check", "none.pt"], ["verify", "none.pt", "model.pt"], ["verify", "model.pt", "none.pt"],
           ["verify", "model.pt", "model.pt", "--inputs", "none.npy"], ["inspect", "none.pt"],
           ["shim", "--emit", "out", "--from", "none.pt"], ["shim", "--emit", "out", "--for", "model.pt", "none.pt"]]

PROGRAM_FOLDER = pathlib.Path(PROGRAM).parent.parent
STAND_INS = PROGRAM_FOLDER / "lib" / "stand_ins"
HEAVY = re.compile(r"lib(opencv_|Qt|gst|avcodec|avformat|leveldb|zmq)")


class LibrariesTest(CliTest):
    def libraries(self, *arguments, code, env=None):
        """Returns the text in which ld.so lists the files that it looks at."""
        log = self.folder / "log"
        done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, cwd=self.folder, timeout=120,
                              env={**environment(env), "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)})
        self.assertEqual(code, done.returncode, done.stderr.decode())
        path, = self.folder.glob("log.*")
        text = path.read_text(errors="replace")
        path.unlink()
        return text


class StartUp(LibrariesTest):
    def test_without_libtorch(self):
        (self.folder / "model.pt").write_bytes(b"no model")
        for code, commands in {0: HELP, 2: WRONG, 3: MISSING}.items():
            for command in commands:
                with self.subTest(command=command):
                    text = self.libraries(*command, code=code)
                    self.assertIn("libstdc++", text)
                    for name in ("libtorch", "libc10", "libnnapi_convert_engine"):
                        self.assertNotIn(name, text)

    def test_sources_of_the_shim_without_libtorch(self):
        self.assertNotIn("libtorch", self.libraries("shim", "--emit", self.folder / "shim", code=0))

    def test_conversion_has_libtorch(self):
        text = self.libraries(self.fixture("bundled.pt"), "--nhwc", "-o", self.folder / "out.pt", code=0)
        self.assertIn("libtorch", text)

    def test_mimalloc_comes_before_libc(self):
        """Where there is mimalloc 2: 3.0.1 breaks."""
        needed = re.findall(r"file=(lib\S+) \[0\];  needed by", self.libraries("--version", code=0))
        known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
        if "libmimalloc.so.2 " in known:
            self.assertLess(needed.index("libmimalloc.so.2"), needed.index("libc.so.6"))
        else:
            self.assertNotIn("libmimalloc", " ".join(needed))

    def test_cpu_time(self):
        for command in [["--help"], ["--version"], ["batch", "--help"], ["model.pt"]]:
            with self.subTest(command=command):
                seconds = []
                for _ in range(RUNS):
                    process = subprocess.Popen([PROGRAM, *command], stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL, env=environment())
                    _, _, usage = os.wait4(process.pid, 0)
                    process.returncode = 0
                    seconds.append(usage.ru_utime + usage.ru_stime)
                self.assertLessEqual(min(seconds), MOST_CPU_SECONDS)


@unittest.skipUnless(STAND_INS.is_dir(), "this LibTorch uses all libraries that it names")
class StandIns(LibrariesTest):
    def convert(self, out="out.pt", env=None, extra=()):
        """Converts a model and returns the paths of all libraries that were loaded."""
        (self.folder / out).parent.mkdir(exist_ok=True)
        text = self.libraries(self.fixture("bundled.pt"), "--nhwc", *extra, "-o", self.folder / out, code=0, env=env)
        return {pathlib.Path(path) for path in re.findall(r"calling init: (/\S+)", text)}

    def heavy(self, libraries):
        return sorted(path.name for path in libraries if path.parent != STAND_INS and HEAVY.match(path.name))

    def test_unused_libraries_stay_out(self):
        loaded = self.convert()
        self.assertEqual([], self.heavy(loaded))
        names = {path.name for path in STAND_INS.iterdir()}
        self.assertIn("libtorch_cpu", " ".join(map(str, loaded)))
        self.assertEqual(names, {path.name for path in loaded if path.parent == STAND_INS})
        self.assertEqual(set(), names & {path.name for path in loaded if path.parent != STAND_INS})

    def test_all_symbols_are_bound_at_the_start(self):
        self.assertEqual([], self.heavy(self.convert(env={"LD_BIND_NOW": "1"})))

    def test_libraries_of_the_user_find_the_real_ones(self):
        opencv = sorted(pathlib.Path("/usr/lib").glob("*/libopencv_imgproc.so.*"))[0]
        loaded = self.convert(extra=["--torch-library", opencv])
        self.assertIn("libopencv_core", " ".join(self.heavy(loaded)))
        self.assertEqual(set(), {path for path in loaded if path.parent == STAND_INS})
        nnapi = PROGRAM_FOLDER / "lib" / "host" / "libneuralnetworks.so"
        loaded = self.convert(env={"NNAPI_HOST_LIBRARY": str(nnapi)})
        self.assertIn("libopencv_core", " ".join(self.heavy(loaded)))

    def test_the_same_result_without_stand_ins(self):
        self.convert("with/out.pt")
        self.convert("without/out.pt", env={"NNAPI_HOST_LIBRARY": ""})
        self.assertEqual((self.folder / "with/out.pt").read_bytes(), (self.folder / "without/out.pt").read_bytes())

    def test_a_library_that_libtorch_uses(self):
        """LibTorch was replaced by one that uses a library which has a stand-in: all are loaded."""
        program = self.folder / "bin" / "nnapi-convert"
        program.parent.mkdir()
        shutil.copyfile(PROGRAM, program)
        program.chmod(0o755)
        stand_ins = self.folder / "lib" / "stand_ins"
        shutil.copytree(STAND_INS, stand_ins)
        shutil.copyfile(PROGRAM_FOLDER / "lib" / "libnnapi_convert_engine.so",
                        self.folder / "lib" / "libnnapi_convert_engine.so")
        old, new = b"libopencv_core.so.406\0", b"libglog.so.1\0"
        data = (stand_ins / "libopencv_core.so.406").read_bytes()
        self.assertIn(old, data)
        (stand_ins / "libglog.so.1").write_bytes(data.replace(old, new.ljust(len(old), b"\0")))
        (stand_ins / "libopencv_core.so.406").unlink()
        result = subprocess.run([program, self.fixture("bundled.pt"), "--nhwc", "-o", self.folder / "out.pt"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), timeout=120)
        self.assertEqual(0, result.returncode, result.stderr)
        self.assertRegex(result.stderr, rb"^nnapi-convert: warning: NNAPI is probably slower here than the CPU[^\n]*\n$")
        self.convert("usual/out.pt")
        self.assertEqual((self.folder / "usual/out.pt").read_bytes(), (self.folder / "out.pt").read_bytes())


if __name__ == "__main__":
    unittest.main()
