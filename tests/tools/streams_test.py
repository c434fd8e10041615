# SPDX-License-Identifier: BSD-3-Clause
"""Exit codes, and what goes to which stream."""

import json
import os
import pty
import re
import subprocess
import unittest

from cli import PROGRAM, CliTest, environment, run

IMAGE = ["--input", "1,3,16,16", "--nhwc"]


class Streams(CliTest):
    def test_done_is_one_line(self):
        model, out = self.fixture("bundled.pt"), self.folder / "out.pt"
        result = run(model, "--nhwc", "--min-segment-macs", "0", "-o", out)
        self.assertEqual((0, ""), (result.code, result.stderr))
        size = out.stat().st_size / 1000
        self.assertEqual(f"{out}: feature level 1, 1 operation, 100 % on NNAPI, {size:.1f} kB; next: nnapi-convert verify "
                         f"{model} {out}\n", result.stdout)

    def test_line_of_parts(self):
        result = run(self.fixture("refused.pt"), *IMAGE, "--min-segment-macs", "0", "-o", self.folder / "out.pt")
        self.assertEqual(0, result.code, f"\n{result}")
        self.assertRegex(result.stdout, r"^\S+: feature level \d, \d+ operations? in \d segments?, .* % of the "
                         r"multiply-adds.* on NNAPI, \d+\.\d kB; next: [^\n]+\n$")

    def test_errors_alone(self):
        for options in ((), ("--verify",), ("--calibrate", "random:40")):
            with self.subTest(options=options):
                result = run(self.fixture("residual.pt"), *IMAGE, "-q", *options, "-o", self.folder / "out.pt")
                self.assertEqual((0, "", ""), (result.code, result.stdout, result.stderr))

    def test_line_beside_a_report_on_stdout(self):
        result = run(self.fixture("bundled.pt"), "--nhwc", "--report", "-", "-o", self.folder / "out.pt")
        self.assertTrue(json.loads(result.stdout)["converted"])
        self.assertIn("100 % on NNAPI", result.stderr)

    def test_verification_table_on_stdout(self):
        result = run(self.fixture("bundled.pt"), "--nhwc", "--min-segment-macs", "0", "--verify", "-o",
                     self.folder / "out.pt")
        self.assertEqual((0, ""), (result.code, result.stderr))
        self.assertRegex(result.stdout, r"^output +shape +dtype +max error +of range +SNR dB +top-1 +quanta\n")
        self.assertRegex(result.stdout, r"\n0 +\[1, 8, 8, 8\] +float32 ")
        self.assertRegex(result.stdout, r"\npassed \(4 samples; needed: [^\n]+\)\n\S+: feature level [^\n]+; next: "
                         r"Module.load\(\) in the app, minSdk 29 \(docs/android.md\)\n$")

    def test_failed_verification_is_4_and_shows_the_table(self):
        out = self.convert("bundled.pt", "--nhwc")
        result = run("verify", self.fixture("bundled.pt"), out, "--tolerance", "0")
        self.assertEqual(4, result.code, f"\n{result}")
        self.assertRegex(result.stdout, r"\nFAILED \(4 samples")

    def test_another_model_fails_verification(self):
        out = self.convert("residual.pt", *IMAGE)
        result = run("verify", self.fixture("scripted.pt"), out)
        self.assertEqual(4, result.code, f"\n{result}")
        self.assertIn("FAILED", result.stdout)

    def test_original_that_does_not_run_fails_verification(self):
        out = self.convert("mlp.pt", "--input", "1,12")
        self.fail_with(4, "verify", self.fixture("residual.pt"), out, needed=["the original doesn't run"])

    def test_missing_host_library(self):
        env = {"NNAPI_HOST_LIBRARY": str(self.folder / "none.so")}
        out = self.convert("bundled.pt", "--nhwc")
        self.fail_with(3, "verify", self.fixture("bundled.pt"), out, env=env,
                       needed=["can't load the host's NNAPI", "none.so"])

    def test_refused_is_1(self):
        self.fail_with(1, self.fixture("refused.pt"), *IMAGE, "-o", self.folder / "out.pt")

    def test_usage_is_2(self):
        self.fail_with(2, self.fixture("bundled.pt"))

    def test_unreadable_is_3(self):
        self.fail_with(3, self.folder / "nothing.pt", "-o", self.folder / "out.pt", needed=["nothing.pt: no such file"])

    def test_dump_on_stdout_log_on_stderr(self):
        result = run(self.fixture("bundled.pt"), "-v", "--dump-after", "infer", "-o", self.folder / "out.pt")
        self.assertEqual(0, result.code)
        self.assertIn("aten::_convolution", result.stdout)
        self.assertNotIn("nnapi-convert:", result.stdout)
        *log, last = result.stderr.splitlines()
        self.assertTrue(all(re.match(r"nnapi-convert: (info|warning): ", line) for line in log[:-1]))
        self.assertIn("100 % on NNAPI", "\n".join((log[-1], last)))

    def test_dump_before_the_stage_that_fails(self):
        result = run(self.fixture("refused.pt"), *IMAGE, "--dump-after", "normalise",
                     "-o", self.folder / "out.pt")
        self.assertEqual(1, result.code)
        self.assertIn("aten::linalg_matrix_exp", result.stdout)

    def test_stdout_that_is_full_is_an_error(self):
        command = [PROGRAM, "ops"]
        with open("/dev/full", "wb") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=60)
        self.assertEqual(3, done.returncode)
        self.assertIn(b"nnapi-convert: error: ", done.stderr)


class NoTerminal(CliTest):
    def test_no_escape_sequences(self):
        result = run(self.fixture("bundled.pt"), "-v", "--verify", "-o", self.folder / "out.pt")
        self.assertEqual(0, result.code)
        for text in (result.stdout, result.stderr):
            self.assertNotRegex(text, "[\r\033]")
        self.assertNotIn("#", result.stderr)


class Terminal(CliTest):
    def run_on_terminal(self, *arguments, **variables):
        """Gives the exit code, and what came out on stdout (a pipe) and stderr (a terminal)."""
        leader, follower = pty.openpty()
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=follower,
                                   stdin=subprocess.DEVNULL, env=environment(variables))
        os.close(follower)
        stderr = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # Linux's answer once the other side is closed
                break
            if not part:
                break
            stderr += part
        os.close(leader)
        stdout = process.stdout.read()
        process.stdout.close()
        return process.wait(timeout=60), stdout.decode(), stderr.decode()

    def test_progress_bar_is_shown_and_wiped(self):
        code, stdout, stderr = self.run_on_terminal(self.fixture("bundled.pt"), "--nhwc", "--min-segment-macs", "0", "-o",
                                                    self.folder / "out.pt")
        self.assertEqual((0, 1), (code, stdout.count("\n")))
        stages = re.findall(r"\r\033\[K\[(#+) *\] ([a-z]+)", stderr)
        self.assertEqual(["load", "normalise", "infer", "lower", "optimise", "serialize", "emit", "write"],
                         [name for _, name in stages])
        lengths = [len(bar) for bar, _ in stages]
        self.assertEqual(sorted(set(lengths)), lengths)
        self.assertTrue(stderr.endswith("\r\033[K"), repr(stderr[-40:]))

    def test_colour_unless_it_is_unwanted(self):
        """https://no-color.org: any value but an empty one."""
        for variables, is_coloured in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False)):
            with self.subTest(variables=variables):
                _, _, stderr = self.run_on_terminal("nothing.pt", "-o", "out.pt", TERM="xterm-256color", **variables)
                self.assertIn("error", stderr)
                self.assertEqual(is_coloured, "m" in "".join(re.findall(r"\033\[[0-9;]*([a-zA-Z])", stderr)))

    def test_progress_bar_is_wiped_before_an_error(self):
        code, _, stderr = self.run_on_terminal(self.fixture("no_operations.pt"), *IMAGE, "-o", self.folder / "out.pt")
        self.assertEqual(1, code)
        bar, message = stderr.rsplit("\r\033[K", 1)
        self.assertIn("[#", bar)
        self.assertIn("nothing is left", message)

    def test_progress_of_a_calibration(self):
        """One count from the first run of the model to the last, and the time left."""
        code, _, stderr = self.run_on_terminal(self.fixture("residual.pt"), *IMAGE, "--calibrate", "random:40", "-o",
                                               self.folder / "out.pt")
        self.assertEqual(0, code)
        shares = [int(share) for share in re.findall(r"\r\033\[Kquantise (\d+) %", stderr)]
        self.assertGreater(len(shares), 20)
        self.assertEqual(sorted(shares)[-1], shares[-1])
        self.assertEqual(100, shares[-1])
        self.assertRegex(stderr, r"quantise \d+ %, about \d+ s left")

    def test_quiet_shows_no_bar(self):
        code, _, stderr = self.run_on_terminal(self.fixture("bundled.pt"), "--nhwc", "-q", "-o", self.folder / "out.pt")
        self.assertEqual((0, ""), (code, stderr))


if __name__ == "__main__":
    unittest.main()
