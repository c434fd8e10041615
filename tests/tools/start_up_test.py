"""Help, versions and wrong command lines are answered at once: LibTorch, whose loading takes half a second, stays out."""

import os
import subprocess
import unittest

from cli import PROGRAM, CliTest, environment

RUNS = 9
MOST_CPU_SECONDS = 0.02
SUBCOMMANDS = ["batch", "check", "inspect", "ops", "shim", "verify"]
HELP = [["--help"], ["--version"], *([command, "--help"] for command in SUBCOMMANDS)]
WRONG = [[], ["model.pt"], ["model.pt", "-o", "out.pt", "--unknown"], ["model.pt", "-o", "out.pt", "--input", "1,x"],
         ["model.pt", "-o", "out.pt", "--nhwc=x"], ["model.pt", "-o", "out.pt", "--min-api", "3"],
         ["model.pt", "-o", "out.pt", "--fallback", "cpu"], ["model.pt", "-o", "out.pt", "--control-flow", "nnapi"],
         ["model.pt", "-o", "model.pt"],
         ["batch", "zoo"], ["batch", "zoo", "-o", "out", "--limit", "x=1"], ["check", "--format", "x"],
         ["inspect"], ["ops", "x"], ["shim"], ["verify", "a.pt", "b.pt", "--input", "x"]]


class StartUp(CliTest):
    def libraries(self, *arguments, code):
        """Returns the text in which ld.so lists the files that it looks at."""
        log = self.folder / "log"
        done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, cwd=self.folder, timeout=120,
                              env={**environment(), "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)})
        self.assertEqual(code, done.returncode, done.stderr.decode())
        path, = self.folder.glob("log.*")
        text = path.read_text(errors="replace")
        path.unlink()
        return text

    def test_without_libtorch(self):
        for code, commands in {0: HELP, 2: WRONG}.items():
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


if __name__ == "__main__":
    unittest.main()
