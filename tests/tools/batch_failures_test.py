# SPDX-License-Identifier: BSD-3-Clause
"""batch: what goes wrong with one model costs that model and no other, and the summary says so; a run that is killed
goes on where it stopped, to the same bytes."""

import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import threading
import time
import unittest

import torch

from atomic_output_test import limit_file_size
from batch_cli import STATE, BatchTest, children, until
from calibrate_models import write_png

GOOD = ["bundled.pt", "quant.pt", "quant_float.pt"]
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def default_signals():
    """For a child of a test run that itself ignores some of them."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_DFL)


def ignoring(number):
    return lambda: signal.signal(number, signal.SIG_IGN)


class Failures(BatchTest):
    def setUp(self):
        super().setUp()
        self.add(*GOOD)
        self.arguments = ["--nhwc", "--keep-going"]

    def assert_only(self, name: str, status: str, error: str):
        expected = {pathlib.Path(good).stem: "converted" for good in GOOD}
        self.assertEqual({**expected, name: status}, self.statuses())
        self.assertIn(error, self.entry(name)["error"])
        report = json.loads((self.out / f"{name}.report.json").read_text())
        self.assertEqual((False, self.entry(name)["error"]), (report["converted"], report["error"]))
        for good in GOOD:
            self.succeed("inspect", self.out / good)

    def test_corrupt(self):
        (self.zoo / "broken.pt").write_bytes(self.fixture("bundled.pt").read_bytes()[:5000])
        result = self.batch(*self.arguments, code=1)
        self.assert_only("broken", "bad_file", "broken.pt")
        self.assertIn("\nbroken: ", result.stdout)
        self.assertIn("4 models: 1 bad file, 3 converted;", result.stdout)

    def test_missing(self):
        path = self.manifest(*({"model": name} for name in [*GOOD, "gone.pt"]))
        self.batch(*self.arguments, zoo=path, code=1)
        self.assert_only("gone", "bad_file", "gone.pt: no such file")

    def test_dangling_link(self):
        (self.zoo / "link.pt").symlink_to("nowhere.pt")
        self.batch(*self.arguments, code=1)
        self.assert_only("link", "bad_file", "no such file")

    def test_option_that_does_not_fit(self):
        models = [{"model": name} for name in GOOD]
        path = self.manifest(*models, {"model": "quant.pt", "name": "odd", "options": {"nhwc": "7"}})
        self.batch(*self.arguments, zoo=path, code=1)
        self.assert_only("odd", "wrong_options", "--nhwc=7")

    def test_options_that_no_conversion_takes(self):
        for options, error in [({"input": "1,xy"}, "--input 1,xy"), ({"quant": "some"}, "--quant"),
                               ({"std": "0"}, "--std: 0 found, a number above 0 needed"),
                               ({"nhwc": True, "nchw": True}, "--nchw")]:
            with self.subTest(options=options):
                models = [{"model": name} for name in GOOD]
                path = self.manifest({"model": "quant.pt", "name": "odd", "options": options}, *models)
                self.batch("--keep-going", zoo=path, code=1)
                self.assert_only("odd", "wrong_options", error)

    def test_options_of_all_that_no_conversion_takes(self):
        path = self.manifest({"model": "bundled.pt"}, defaults={"input": "1,xy"})
        self.fail_with(2, "batch", path, "-o", self.out, needed=["/defaults: ", "--input 1,xy"])
        self.assertFalse((self.out / "summary.json").exists())

    def test_crashing_worker(self):
        """The signals that follow from a fault of the program, the system or an administrator."""
        self.hanging("crash.pt")
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGTERM):
            process = self.start(*self.arguments, "--jobs", "1")
            for _ in GOOD:
                self.wait_for_model(process)
            worker, = until(lambda: children(process.pid), "the last model's worker")
            until(lambda: (self.out / STATE / "records").exists(), "records")
            os.kill(worker, number)
            stdout, _ = process.communicate(timeout=60)
            self.assertEqual(1, process.returncode)
            self.assert_only("crash", "crashed", f"its worker was ended by signal {int(number)}, ")
            self.assertIn("3 converted, 1 crashed", stdout)
            shutil.rmtree(self.out)

    def test_timeout(self):
        self.hanging("slow.pt")
        self.batch(*self.arguments, "--timeout", "3", code=1)
        self.assert_only("slow", "timed_out", "stopped after 3 seconds")

    def test_file_size_limit(self):
        """A result that can't be written completely, while smaller results can."""
        torch.jit.trace(torch.nn.Conv2d(3, 64, 7).eval(), torch.rand(1, 3, 8, 8)).save(str(self.zoo / "large.pt"))
        self.batch(*self.arguments, "--input", "1,3,8,8", code=1, preexec_fn=limit_file_size(32_000))
        self.assert_only("large", "bad_file", "can't write")

    def test_full_disk(self):
        if os.geteuid() != 0 or shutil.which("mount") is None:
            self.skipTest("mounting a small file system needs root")
        self.out.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", self.out], stderr=subprocess.PIPE)
        if mounted.returncode != 0:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", self.out], check=True)
        torch.jit.trace(torch.nn.Conv2d(64, 128, 7).eval(), torch.rand(1, 64, 8, 8)).save(str(self.zoo / "large.pt"))
        path = self.manifest(*({"model": name} for name in GOOD),
                             {"model": "large.pt", "options": {"input": "1,64,8,8"}})
        self.batch(*self.arguments, "--jobs", "1", zoo=path, code=1)  # what is written beside it would find no room either
        self.assert_only("large", "bad_file", "can't write")

    def test_disk_without_any_room(self):
        if os.geteuid() != 0 or shutil.which("mount") is None:
            self.skipTest("mounting a small file system needs root")
        self.out.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", self.out], stderr=subprocess.PIPE)
        if mounted.returncode != 0:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", self.out], check=True)
        result = self.batch(*self.arguments, code=3)
        self.assertIn("can't write", result.stderr)
        self.assertRegex(result.stdout, r"\n3 models: .*bad file")

    def test_name_that_is_no_utf8(self):
        shutil.copyfile(self.fixture("bundled.pt"), os.fsencode(self.zoo) + b"/odd\xff.pt")
        self.batch(*self.arguments)
        statuses = self.statuses()
        self.assertEqual((4, {"converted"}), (len(statuses), set(statuses.values())))
        self.assertIn("odd\ufffd", statuses)
        self.succeed("inspect", os.fsdecode(os.fsencode(self.out) + b"/odd\xff.pt"))

    def test_hang_up_that_the_caller_ignores(self):
        """Under nohup it goes on."""
        process = self.start(*self.arguments, "--jobs", "1", preexec_fn=ignoring(signal.SIGHUP))
        self.wait_for_model(process)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
        self.assertEqual(0, process.returncode)
        self.assertEqual({"converted"}, set(self.statuses().values()))

    def test_children_that_the_caller_ignores(self):
        """A child inherits an ignored SIGCHLD from its parent; the command notices the ends of workers nevertheless."""
        self.batch(*self.arguments, preexec_fn=ignoring(signal.SIGCHLD))
        self.assertEqual({"converted"}, set(self.statuses().values()))

    def test_stops_at_the_first_failure_unless_told(self):
        self.add("refused.pt")
        self.add("refused.pt", to="zz.pt")
        path = self.manifest({"model": "refused.pt"}, {"model": "zz.pt"})
        result = self.batch("--nhwc", "--input", "1,3,16,16", "--jobs", "1", zoo=path, code=1)
        self.assertEqual({"refused": "refused", "zz": "not_run"}, self.statuses())
        self.assertIn("1 not run, 1 refused", result.stdout)
        self.assertIn("skipped=\"1\"", (self.out / "summary.xml").read_text())

    def test_earlier_result_survives(self):
        self.batch(*self.arguments)
        earlier = (self.out / "quant.pt").read_bytes()
        (self.zoo / "quant.pt").write_bytes(b"no model")
        self.batch(*self.arguments, code=1)
        self.assertEqual(earlier, (self.out / "quant.pt").read_bytes())
        self.assert_only("quant", "bad_file", "quant.pt")


class Resume(BatchTest):
    def setUp(self):
        super().setUp()
        self.arguments = ["--nhwc", "--keep-going", "--verify"]
        for i in range(3):
            for name in GOOD:
                self.add(name, to=f"{i}_{name}")
        self.add("refused.pt")

    def up_to_date(self, result) -> int:
        return int(result.stdout.split(" up to date;")[0].split()[-1])

    def test_killed_run(self):
        """Whenever it is killed: the rest is done by the second run, and the bytes are those of one run."""
        self.batch(*self.arguments, out=self.folder / "whole", code=1)
        for lines in (0, 1, 4, 9):
            process = self.start(*self.arguments, "--jobs", "2")
            for _ in range(lines):
                self.wait_for_model(process)
            if lines == 0:
                until(lambda: children(process.pid), "a worker")
            workers = children(process.pid)
            process.kill()
            process.wait()
            until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in workers), "the workers' end")
            result = self.batch(*self.arguments, "--resume", code=1)
            self.assertGreaterEqual(self.up_to_date(result), lines)
            self.assertEqual(self.results(self.folder / "whole"), self.results())
            self.assertFalse((self.out / STATE / "staging").exists())
            shutil.rmtree(self.out)

    def test_interrupted_run_says_what_it_has(self):
        for number in STOPPING:
            path = self.manifest({"model": "0_quant.pt"}, {"model": "slow.pt"}, {"model": "slow2.pt"})
            if not (self.zoo / "slow.pt").exists():
                self.hanging("slow.pt")
                self.hanging("slow2.pt")
            process = self.start(*self.arguments, "--jobs", "1", zoo=path, preexec_fn=default_signals)
            self.wait_for_model(process)
            until(lambda: children(process.pid), "the next model's worker")
            process.send_signal(number)
            stdout, _ = process.communicate(timeout=60)
            self.assertEqual(128 + number, process.returncode)
            self.assertEqual({"0_quant": "converted", "slow": "not_run", "slow2": "not_run"}, self.statuses())
            self.assertIn("1 converted, 2 not run", stdout)
            self.assertFalse((self.out / STATE / "staging").exists())

    def test_only_what_changed(self):
        self.batch(*self.arguments, code=1)
        before = self.results()
        result = self.batch(*self.arguments, "--resume", code=1)
        self.assertEqual(10, self.up_to_date(result), "a refusal is final, too")
        self.assertEqual(before, self.results())
        shutil.copyfile(self.fixture("residual.pt"), self.zoo / "0_quant.pt")
        (self.out / "1_quant.pt").unlink()
        (self.out / "2_quant.pt").write_bytes(b"not what was written")
        result = self.batch(*self.arguments, "--resume", "--input", "1,3,16,16", code=1)
        self.assertEqual(0, self.up_to_date(result), "another option")
        result = self.batch(*self.arguments, "--resume", code=1)
        self.assertEqual(0, self.up_to_date(result))
        shutil.copyfile(self.fixture("bundled.pt"), self.zoo / "0_quant.pt")
        (self.out / "1_quant.pt").unlink()
        (self.out / "2_quant.pt").write_bytes(b"not what was written")
        result = self.batch(*self.arguments, "--resume", code=1)
        self.assertEqual(7, self.up_to_date(result))
        self.assertEqual({**before, "0_quant.pt": b"", "0_quant.report.json": b"", "summary.json": b"",
                          "summary.md": b""},
                         {**self.results(), "0_quant.pt": b"", "0_quant.report.json": b"", "summary.json": b"",
                          "summary.md": b""})

    def test_calibration_data_that_changed(self):
        data = self.zoo / "data"
        data.mkdir()
        torch.save([torch.randn(1, 3, 16, 16)], data / "0.pt")
        zoo = self.manifest({"model": "late.pt", "options": {"calibrate": "data/0.pt", "calibration": "table.json"}})
        shutil.copyfile(self.fixture("residual.pt"), self.zoo / "late.pt")
        arguments = ("--nhwc", "--input", "1,3,16,16", "--resume")
        self.batch(*arguments, zoo=zoo)
        self.assertEqual(1, self.up_to_date(self.batch(*arguments, zoo=zoo)))
        torch.save([torch.randn(1, 3, 16, 16)], data / "0.pt")
        self.assertEqual(0, self.up_to_date(self.batch(*arguments, zoo=zoo)))
        self.assertEqual(1, self.up_to_date(self.batch(*arguments, zoo=zoo)))
        self.assertTrue((self.zoo / "table.json").exists())

    def test_calibration_pictures_that_changed(self):
        """Of a folder, and of a list that names one that isn't there."""
        data = self.zoo / "data"
        data.mkdir()
        pixels = torch.randint(0, 256, (2, 16, 16, 3), dtype=torch.uint8).numpy()
        (data / "all.txt").write_text("a.png\nnone.png\n")
        shutil.copyfile(self.fixture("residual.pt"), self.zoo / "late.pt")
        arguments = ("--nhwc", "--input", "1,3,16,16", "--resume")
        for source in ("data", "data/all.txt"):
            options = {"calibrate": source, "mean": "0", "std": "1"}
            zoo = self.manifest({"model": "late.pt", "options": options})
            for picture, up_to_date in ((0, 0), (0, 1), (1, 0), (1, 1)):
                write_png(data / "a.png", pixels[picture])
                self.assertEqual(up_to_date, self.up_to_date(self.batch(*arguments, zoo=zoo)), source)

    def test_what_is_not_final_is_tried_again(self):
        (self.zoo / "late.pt").write_bytes(b"not yet")
        self.batch(*self.arguments, code=1)
        self.assertEqual("bad_file", self.statuses()["late"])
        shutil.copyfile(self.fixture("bundled.pt"), self.zoo / "late.pt")
        self.batch(*self.arguments, "--resume", code=1)
        self.assertEqual("converted", self.statuses()["late"])

    def test_damaged_record(self):
        self.batch(*self.arguments, code=1)
        before = self.results()
        records = sorted((self.out / STATE / "records").iterdir())
        for record, text in zip(records, ["", "{}", "[1]", '{"key": 3}']):
            record.write_text(text)
        result = self.batch(*self.arguments, "--resume", code=1)
        self.assertEqual(6, self.up_to_date(result))
        self.assertEqual(before, self.results())

    def test_without_resume_all_is_done_again(self):
        self.batch(*self.arguments, code=1)
        self.assertEqual(0, self.up_to_date(self.batch(*self.arguments, code=1)))


class Memory(BatchTest):
    def large(self, name: str, megabytes: int):
        """Makes a model with `megabytes` of weights."""
        rows = megabytes * 250
        with torch.no_grad():
            module = torch.nn.Linear(1000, rows)
            torch.jit.trace(module.eval(), torch.rand(1, 1000)).save(str(self.zoo / name))

    def peak_of(self, *arguments, code=0, **options) -> float:
        """Runs a batch; gives the largest sum of resident memory that was seen of its processes, in megabytes."""
        process = self.start("--input", "1,1000", "--keep-going", *arguments, **options)
        page, peak, ended = resource.getpagesize(), 0, threading.Event()

        def resident(pid):
            try:
                return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * page
            except (FileNotFoundError, ProcessLookupError):
                return 0

        def look():
            nonlocal peak
            while not ended.is_set():
                peak = max(peak, sum(map(resident, [process.pid, *children(process.pid)])))
                time.sleep(0.002)

        watcher = threading.Thread(target=look)
        watcher.start()
        process.communicate(timeout=120)
        ended.set()
        watcher.join()
        self.assertEqual(code, process.returncode)
        return peak / 1e6

    def test_models_wait_for_room(self):
        for i in range(4):
            self.large(f"{i}.pt", 60)
        free = self.peak_of("--jobs", "4")
        bounded = self.peak_of("--jobs", "4", "--memory", "500MB")
        self.assertEqual({str(i): "converted" for i in range(4)}, self.statuses())
        self.assertLess(bounded, 500 * 1.048576)
        self.assertGreater(free, bounded)

    def test_too_large_a_model_is_stopped(self):
        self.large("large.pt", 400)
        self.add("mlp.pt")
        path = self.manifest({"model": "large.pt"}, {"model": "mlp.pt", "options": {"input": "1,12"}})
        peak = self.peak_of("--jobs", "2", "--memory", "400MB", zoo=path, code=1)
        self.assertEqual({"large": "out_of_memory", "mlp": "converted"}, self.statuses())
        self.assertRegex(self.entry("large")["error"], r"needs more than --memory|can.t allocate memory|out of memory")
        self.assertNotIn("stopped at 0 MB", self.entry("large")["error"])
        self.assertLess(peak, 400 * 1.048576)


if __name__ == "__main__":
    unittest.main()
