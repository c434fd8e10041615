# SPDX-License-Identifier: BSD-3-Clause
"""Models that end LibTorch's process, take all memory or never end: the command says so, and leaves nothing behind."""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import time
import unittest

from cli import PROGRAM, ROOT, CliTest, environment

sys.path.insert(0, str(ROOT / "scripts/checks"))
import hostile  # noqa: E402
import hostile_models  # noqa: E402
from hostile_models import forward  # noqa: E402

SEED, COUNT, SECONDS = 4, 40, 60
INPUT = ["--input", "1,8"]


class Hostile(CliTest):
    def model(self, body: str, result: str = "x", methods: str = "") -> pathlib.Path:
        path = self.folder / "m.pt"
        hostile_models.write(hostile_models.Hostile("", forward(body, result, methods), []), path)
        return path

    def end(self, code: int, body: str, *needed: str, options=(), result: str = "x", methods: str = "", **how):
        model = self.model(body, result, methods)
        self.fail_with(code, model, *INPUT, *options, "-o", self.folder / "out.pt", needed=needed, **how)
        self.assertEqual(["m.pt"], os.listdir(self.folder))

    def test_loop_without_end(self):
        self.end(75, "while True:\n  x = torch.relu(x)", 'the step "verify" went on for 2 s', "--time-limit",
                 options=["--verify", "--time-limit", "2", "-q"])

    def test_loop_without_end_on_nnapi(self):
        """It would be a WHILE without a condition."""
        self.end(1, "while True:\n  x = torch.relu(x)", "a loop that never ends",
                 options=["--control-flow", "nnapi", "--runtime", "shim", "--feature-level", "4", "--fallback", "none"])

    def test_loops_in_loops(self):
        """Types of what a loop carries are tried on a copy of its body, and so on within: twice the work for each level."""
        levels = 30
        body = "\n".join(" " * i + f"for i{i} in range(int(torch.max(x))):" for i in range(levels))
        started = time.monotonic()
        self.end(1, body + "\n" + " " * levels + "x = torch.relu(x)", "can't be lowered")
        self.assertLess(time.monotonic() - started, SECONDS)

    def test_loops_of_known_rounds_in_loops(self):
        """Each loop that is written out gives the ones in it known rounds, with as many copies of what is in these."""
        levels = 300
        body = "\n".join(" " * i + f"for i{i} in range(torch.size(x, 1)):" for i in range(levels))
        model = self.model(body + "\n" + " " * levels + "x = torch.relu(x)")
        started = time.monotonic()
        self.succeed(model, *INPUT, "--control-flow", "nnapi", "--runtime", "shim", "--feature-level", "4",
                     "-o", self.folder / "out.pt")
        self.assertLess(time.monotonic() - started, 15)

    def test_sum_without_end(self):
        self.end(1, "y = torch.sum(torch.expand(torch.ones([1]), [1000000000000]))\nx0 = torch.add(x, y)", "1e+12 elements",
                 result="x0")

    def test_division_of_integers(self):
        for division in ("remainder(1, 0)", "floordiv(torch.sub(-9223372036854775807, 1), -1)",
                         "remainder(torch.sub(-9223372036854775807, 1), -1)"):
            with self.subTest(division):
                self.end(1, f"x0 = torch.add(x, torch.{division})", "divides an integer by 0", result="x0")

    def test_no_such_dtype(self):
        self.end(1, "x0 = torch.relu(torch.to(x, 99999))", "code/__torch__.py:7", "dtype 99999", result="x0")

    def test_size_beyond_all_memory(self):
        self.end(1, "x0 = torch.relu(torch.one_hot(torch.to(x, 4), 9223372036854775807))", "9223372036854775807", result="x0",
                 options=["--runtime", "shim"])

    def test_too_much_memory(self):
        limit = (2 << 30, 2 << 30)
        self.end(75, "y = torch.sort(torch.mul(torch.ones([200000, 3000]), 2.))[0]\nx0 = torch.add(x, torch.sum(y))", "memory",
                 options=["--verify"], result="x0", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, limit))

    def test_long_chain(self):
        """The original runs on the large stack, too."""
        lines = [f"x{i + 1} = torch.{'relu' if i % 2 else 'neg'}(x{i})" for i in range(6000)]
        self.succeed(self.model("\n".join(["x0 = torch.tanh(x)", *lines]), "x6000"), *INPUT, "--verify", "-o",
                     self.folder / "out.pt")

    def test_functions_in_functions(self):
        methods = "".join(f"  def f{i}(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return torch.neg((self).f{i + 1}(x, ))\n"
                          for i in range(500))
        last = "  def f500(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return torch.relu(x)\n"
        self.succeed(self.model("x0 = (self).f0(x, )", "x0", methods + last), *INPUT, "-o", self.folder / "out.pt")

    def test_signals(self):
        """They end both processes, and the folder beside the output goes."""
        model = self.model("while True:\n  x = torch.relu(x)")
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(sent):
                process = subprocess.Popen([PROGRAM, str(model), *INPUT, "--verify", "-q", "-o", str(self.folder / "out.pt")],
                                           env=environment(), stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
                self.addCleanup(process.kill)
                deadline = time.monotonic() + SECONDS
                # Before the work, a folder comes and goes that shows whether files can be written.
                while not list(self.folder.glob("*/out.pt")) and time.monotonic() < deadline:
                    time.sleep(0.01)
                self.assertEqual(2, len(os.listdir(self.folder)))
                process.send_signal(sent)
                self.assertEqual(-sent, process.wait(SECONDS))
                self.assertEqual(["m.pt"], os.listdir(self.folder))


class Seeded(CliTest):
    def test_many(self):
        """A share of what scripts/checks/hostile.py runs by hand, without what takes its whole time."""
        bad = []
        for number in range(COUNT):
            model = hostile_models.make(number, SEED)
            if model.name not in ("endless", "nested_methods", "nested_conditions", "doubled_methods"):
                result = hostile.run(number, SEED, self.folder / str(number))
                bad += [f"{result}: {problem}" for problem in result.problems if " s of CPU" not in problem]
        self.assertEqual([], bad)


if __name__ == "__main__":
    unittest.main()
