# SPDX-License-Identifier: BSD-3-Clause
"""OUT appears whole or not at all: whatever fails, an existing file keeps its bytes and time, and nothing is left
over."""

import os
import resource
import shutil
import signal
import subprocess
import time
import unittest

from cli import PROGRAM, CliTest, environment, run, unchanged

IMAGE = ["--input", "1,3,16,16", "--nhwc"]


def limit_file_size(size: int):
    """For a child: no file may grow beyond the size, and writing on gives an error instead of a signal."""

    def set_limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return set_limit


class WithEarlierResult(CliTest):
    def setUp(self):
        super().setUp()
        self.out_folder = self.folder / "results"
        self.out_folder.mkdir()
        self.out = self.out_folder / "out.pt"
        self.out.write_bytes(b"earlier result")
        os.utime(self.out, (1_000_000_000, 1_000_000_000))

    def assert_untouched(self, code, *arguments, needed=(), **options):
        with unchanged(self, self.out):
            result = run(*arguments, "-o", self.out, **options)
        self.assertEqual(code, result.code, f"\n{result}")
        for fragment in needed:
            self.assertIn(fragment, result.stderr)
        self.assertEqual(["out.pt"], os.listdir(self.out_folder))


class Failures(WithEarlierResult):
    def test_success_replaces(self):
        self.succeed(self.fixture("bundled.pt"), "--nhwc", "-o", self.out)
        self.assertEqual(b"PK", self.out.read_bytes()[:2])
        self.assertEqual(["out.pt"], os.listdir(self.out_folder))

    def test_refused_model(self):
        self.assert_untouched(1, self.fixture("refused.pt"), *IMAGE)

    def test_wrong_command_line(self):
        self.assert_untouched(2, self.fixture("bundled.pt"), "--quant", "x")

    def test_malformed_model(self):
        damaged = self.folder / "damaged.pt"
        damaged.write_bytes(self.fixture("bundled.pt").read_bytes()[:9000])
        self.assert_untouched(3, damaged)

    def test_verification_that_can_not_run(self):
        self.assert_untouched(3, self.fixture("bundled.pt"), "--nhwc", "--verify",
                              env={"NNAPI_HOST_LIBRARY": str(self.folder / "none.so")}, needed=["none.so"])

    def test_verification_on_a_library_without_nnapi(self):
        library = self.folder / "empty.so"
        subprocess.run(["cc", "-shared", "-o", library, "-x", "c", "/dev/null"], check=True)
        self.assert_untouched(4, self.fixture("bundled.pt"), "--nhwc", "--verify",
                              env={"NNAPI_HOST_LIBRARY": str(library)}, needed=["the converted model doesn't run"])

    def test_report_that_can_not_be_written(self):
        self.assert_untouched(3, self.fixture("bundled.pt"), "--nhwc",
                              "--report", self.folder / "nowhere" / "report.json", needed=["report.json"])

    def test_cpu_file_that_can_not_be_written(self):
        self.assert_untouched(3, self.fixture("bundled.pt"), "--nhwc", "--emit-cpu", self.folder / "nowhere" / "cpu.pt",
                              needed=["cpu.pt"])

    def test_every_size_that_does_not_fit(self):
        """From the first byte to the last: the end of an archive is written when it is closed. Names are as long as
        out.pt, since the archive repeats its name."""
        model = self.fixture("three_operations.pt")
        size = self.convert("three_operations.pt", *IMAGE, out="all.pt").stat().st_size
        for limit in [0, 1000, size // 2, size - 1000, size - 100, size - 1]:
            with self.subTest(limit=limit, size=size):
                self.assert_untouched(3, model, *IMAGE, preexec_fn=limit_file_size(limit), needed=["can't write"])

    def test_full_disk(self):
        if os.geteuid() != 0 or shutil.which("mount") is None:
            self.skipTest("mounting a small file system needs root")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", self.out_folder],
                                 stderr=subprocess.PIPE)
        if mounted.returncode != 0:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", self.out_folder], check=True)
        self.out.write_bytes(b"earlier result")
        self.assert_untouched(3, self.fixture("bundled.pt"), "--nhwc",
                              needed=["can't write", "No space left on device"])

    def test_folder_that_can_not_be_written(self):
        if os.geteuid() == 0:
            # Root may write everywhere but to /proc.
            self.fail_with(3, self.fixture("bundled.pt"), "--nhwc", "-o", "/proc/out.pt",
                           needed=["can't write /proc/out.pt"])
            return
        os.chmod(self.out_folder, 0o500)
        self.addCleanup(os.chmod, self.out_folder, 0o700)
        self.assert_untouched(3, self.fixture("bundled.pt"), "--nhwc", needed=["can't write"])

    def test_destination_is_a_folder(self):
        (self.out_folder / "kept").write_bytes(b"x")
        self.fail_with(3, self.fixture("bundled.pt"), "--nhwc", "-o", self.out_folder, needed=["not a regular file"])
        self.assertEqual(["kept", "out.pt"], sorted(os.listdir(self.out_folder)))
        self.assert_no_leftovers()

    def test_destination_is_a_device(self):
        before = os.stat("/dev/null")
        self.fail_with(3, self.fixture("bundled.pt"), "--nhwc", "-o", "/dev/null", needed=["not a regular file"])
        after = os.stat("/dev/null")
        self.assertEqual((before.st_mode, before.st_rdev), (after.st_mode, after.st_rdev))

    def test_destination_is_a_pipe(self):
        pipe = self.out_folder / "pipe"
        os.mkfifo(pipe)
        self.fail_with(3, self.fixture("bundled.pt"), "--nhwc", "-o", pipe, needed=["not a regular file"])

    def test_through_a_symbolic_link(self):
        link = self.folder / "link.pt"
        link.symlink_to("results/out.pt")
        self.succeed(self.fixture("bundled.pt"), "--nhwc", "-o", link)
        self.assertEqual("results/out.pt", os.readlink(link))
        self.assertEqual(b"PK", self.out.read_bytes()[:2])
        self.assertEqual(["out.pt"], os.listdir(self.out_folder))
        self.assert_no_leftovers()

    def test_through_a_dangling_link(self):
        self.out.unlink()
        link = self.folder / "link.pt"
        link.symlink_to("results/out.pt")
        self.succeed(self.fixture("bundled.pt"), "--nhwc", "-o", link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(b"PK", self.out.read_bytes()[:2])

    def test_link_keeps_its_target_on_failure(self):
        link = self.folder / "link.pt"
        link.symlink_to("results/out.pt")
        with unchanged(self, self.out):
            self.fail_with(1, self.fixture("refused.pt"), *IMAGE, "-o", link)
        self.assertTrue(link.is_symlink())

    def test_onto_the_model_itself(self):
        self.out.write_bytes(self.fixture("bundled.pt").read_bytes())
        self.assert_untouched(2, self.out, "--nhwc", needed=["is the same file as MODEL"])

    def test_permissions_follow_the_umask(self):
        self.out.unlink()
        run(self.fixture("bundled.pt"), "--nhwc", "-o", self.out, preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(0o640, self.out.stat().st_mode & 0o777)


class Killed(WithEarlierResult):
    """The verification waits for a library that takes long to load, the result being written already."""

    def start_and_wait(self) -> subprocess.Popen:
        library = self.folder / "library.so"
        source = "#include <unistd.h>\n__attribute__((constructor)) static void wait_long() { sleep(60); }\n"
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=source.encode(), check=True)
        command = [PROGRAM, str(self.fixture("bundled.pt")), "--nhwc", "--verify", "-o", str(self.out)]
        process = subprocess.Popen(command, env=environment({"NNAPI_HOST_LIBRARY": str(library)}),
                                   stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            for entry in self.out_folder.glob(".*/out.pt"):
                if entry.stat().st_size > 0:
                    return process
            time.sleep(0.01)
        process.kill()
        self.fail("the temporary file didn't appear")

    def test_kill(self):
        process = self.start_and_wait()
        with unchanged(self, self.out):
            process.send_signal(signal.SIGKILL)
            self.assertEqual(-signal.SIGKILL, process.wait(timeout=60))

    def test_next_run_after_a_kill(self):
        process = self.start_and_wait()
        process.kill()
        process.wait(timeout=60)
        self.succeed(self.fixture("bundled.pt"), "--nhwc", "-o", self.out)
        self.succeed("inspect", self.out)

    def test_interrupt(self):
        process = self.start_and_wait()
        with unchanged(self, self.out):
            process.send_signal(signal.SIGINT)
            self.assertNotEqual(0, process.wait(timeout=60))


if __name__ == "__main__":
    unittest.main()
