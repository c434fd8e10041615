# SPDX-License-Identifier: BSD-3-Clause
"""nnapi-bench: modules of both runtimes and of the CPU, its report by the schema, its table, and what it refuses."""

import json
import os
import pathlib
import re
import subprocess
import unittest
from typing import Dict, List

import jsonschema
import torch

from cli import ROOT, CliTest, environment

PROGRAM = pathlib.Path(os.environ.get("NNAPI_CONVERT",
                                      str(ROOT / "build/release/bin/nnapi-convert"))).with_name("nnapi-bench")
NULL_NNAPI = PROGRAM.parents[1] / "lib" / "fake_nnapi" / "libnull_nnapi.so"
SCHEMA = json.loads((ROOT / "schemas" / "bench.schema.json").read_text())
SIZES = ["--input_dims=1,3,16,16", "--input_type=float"]
CLOSING = r"\AMain run finished\. Microseconds per iter: ([0-9.e+]+)\. Iters per second: ([0-9.e+]+)\Z"


class Bench(CliTest):
    def run_bench(self, *arguments, env=None) -> subprocess.CompletedProcess:
        return subprocess.run([str(PROGRAM), *map(str, arguments)], env=environment(env), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)

    def lines(self, *arguments, env=None) -> List[str]:
        done = self.run_bench(*arguments, env=env)
        self.assertEqual((0, ""), (done.returncode, done.stderr), f"{arguments}\n{done.stdout}")
        lines = done.stdout.splitlines()
        per_iter, per_second = map(float, re.match(CLOSING, lines[-1]).groups())
        self.assertAlmostEqual(1e6, per_iter * per_second, delta=100)
        return lines

    def report(self, *arguments, env=None) -> Dict:
        path = self.folder / "report.json"
        self.lines(*arguments, f"--report={path}", env=env)
        report = json.loads(path.read_text())
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        return report

    def refused(self, code: int, *arguments, needed=()) -> None:
        """Checks that the run ends with one error and no closing line."""
        done = self.run_bench(*arguments)
        self.assertEqual(code, done.returncode, done.stderr)
        self.assertNotIn("Main run finished", done.stdout)
        self.assertRegex(done.stderr, r"\Annapi-bench: error: [^\n]+\n\Z")
        for fragment in needed:
            self.assertIn(fragment, done.stderr)

    def both(self, *options) -> Dict[str, pathlib.Path]:
        """Without samples to check a device by: NULL_NNAPI computes nothing, and would fail with them."""
        runtimes = {"pytorch": [], "shim": ["--no-self-check"]}
        return {runtime: self.convert("bundled.pt", "--nhwc", "--bundle-inputs", "--runtime", runtime, *more, *options,
                                      out=f"{runtime}.pt") for runtime, more in runtimes.items()}


class BenchRuns(Bench):
    def test_schema_itself(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        self.assertEqual([], [name for name in SCHEMA["required"] if name not in SCHEMA["properties"]])

    def test_closing_lines_are_those_of_speed_benchmark_torch(self):
        lines = self.lines(f"--model={self.fixture('bundled.pt')}", "--use_bundled_input=0", "--warmup=2", "--iter=3")
        self.assertEqual(["Starting benchmark.", "Running warmup runs.", "Main runs."], lines[:3])

    def test_runtimes(self):
        paths = {"cpu": self.fixture("bundled.pt"), **self.both()}
        for runtime, path in paths.items():
            report = self.report(f"--model={path}", "--use_bundled_input=0", "--warmup=1", "--iter=7")
            self.assertEqual((runtime, str(path), 7, 1),
                             (report["runtime"], report["model"], report["iterations"], report["warmup"]))
            self.assertEqual(runtime == "shim", "shim" in report)
            self.assertEqual([] if runtime == "cpu" else ["nnapi-convert-host"],
                             [one["name"] for one in report["devices"]])
            times = [report["latency_us"][name] for name in ("min", "p50", "p90", "p95", "p99", "max")]
            self.assertEqual(sorted(times), times)
            self.assertGreater(times[0], 0)
            self.assertGreater(report["cpu_us_per_iteration"], 0)

    def test_what_the_shim_tells(self):
        path = self.both()["shim"]
        report = self.report(f"--model={path}", "--use_bundled_input=0", "--warmup=3", "--iter=4",
                             "--shim_option=device=nnapi-convert-host")
        self.assertEqual(("nnapi", "nnapi-convert-host"), (report["shim"]["state"], report["shim"]["devices"]))
        self.assertEqual((7, 1), tuple(report["shim"]["profile"][name] for name in ("executions", "compiled")))

    def test_the_first_inference_is_never_in_the_main_loop(self):
        """On an NNAPI that compiles for half a second, without warm-up."""
        slow = {"NULL_NNAPI_COMPILE_MS": "500"}
        for path in self.both().values():
            report = self.report(f"--model={path}", "--use_bundled_input=0", "--iter=5",
                                 f"--nnapi_library={NULL_NNAPI}", env=slow)
            self.assertGreater(report["first_inference"]["wall_us"], 500e3)
            self.assertLess(report["latency_us"]["max"], 500e3)
            self.assertEqual(["null"], [one["name"] for one in report["devices"]])

    def test_a_cache_saves_compiling(self):
        path = self.both()["shim"]
        arguments = [f"--model={path}", "--use_bundled_input=0", f"--nnapi_library={NULL_NNAPI}",
                     f"--shim_option=cache_directory={self.folder}"]
        first, second = [self.report(*arguments, env={"NULL_NNAPI_COMPILE_MS": "500"}) for _ in range(2)]
        self.assertGreater(first["first_inference"]["wall_us"], 500e3)
        self.assertLess(second["first_inference"]["wall_us"], 500e3)

    def test_memory_of_weights_shows(self):
        """With 16 MB of weights in place of few, resident memory grows by 16 MB when the model is loaded."""
        model = torch.jit.trace(torch.nn.Linear(2048, 2048).eval(), torch.zeros(1, 2048))
        model.save(str(self.folder / "large.pt"))
        memory = self.report(f"--model={self.folder / 'large.pt'}", "--input_dims=1,2048",
                             "--input_type=float")["memory_bytes"]
        growth = {kind: memory["loaded"][kind] - memory["at_start"][kind] for kind in ("resident", "written")}
        self.assertEqual({}, {kind: bytes for kind, bytes in growth.items() if not 12e6 < bytes < 40e6})
        # How much of a library's pages is this process's alone changes with other processes, and so isn't compared.
        for use in memory.values():
            self.assertTrue(use["owned"] <= use["proportional"] <= use["resident"], use)

    def test_comparison(self):
        stock = self.both("--emit-cpu", self.folder / "cpu.pt")["pytorch"]
        arguments = [f"--model={stock}", "--use_bundled_input=0", "--iter=5", f"--compare={self.folder / 'cpu.pt'}"]
        rows = self.report(*arguments)["comparison"]
        threads = [count for count in (1, 2, 4) if count <= os.cpu_count()]
        names = [f"CPU, {count} thread{'s' if count > 1 else ''}" for count in threads]
        self.assertEqual([*zip(names, threads)], [(row["name"], row["threads"]) for row in rows[:-1]])
        self.assertEqual(("NNAPI", 1, 0), (rows[-1]["name"], rows[0]["normalised"], rows[0]["cpu_freed"]))
        for row in rows:
            self.assertAlmostEqual(row["latency_us"] / rows[0]["latency_us"], row["normalised"])
            self.assertAlmostEqual(1 - row["cpu_us"] / rows[0]["cpu_us"], row["cpu_freed"])
        text = "\n".join(self.lines(*arguments))
        for name in (*names, "NNAPI ", "normalised", "CPU freed"):
            self.assertIn(name, text)
        self.assertEqual(os.cpu_count() < 4, "Not measured with 4 threads" in text)

    def test_flags_of_speed_benchmark_torch(self):
        model = f"--model={self.fixture('residual.pt')}"
        lines = self.lines(model, *SIZES, "--input_memory_format=channels_last", "--iter=3", "--report_pep=true")
        observed = [json.loads(line.split(" ", 1)[1]) for line in lines if line.startswith("PyTorchObserver ")]
        self.assertEqual([("NET", "us", "latency")] * 3,
                         [(one["type"], one["unit"], one["metric"]) for one in observed])
        self.assertEqual(2, self.report(model, *SIZES, "--pthreadpool_size=2")["threads"])
        self.assertIn("[ CPUFloatType{1,", "\n".join(self.lines(model, *SIZES, "--print_output")))

    def test_several_inputs(self):
        model = f"--model={self.fixture('two_input.pt')}"
        self.assertEqual("cpu", self.report(model, "--input_dims=1,3,16,16;1,2,16,16", "--input_type=float;float",
                                            "--input_memory_format=channels_last;contiguous_format")["runtime"])
        self.assertEqual("cpu", self.report(model, "--input_dims=1,3,16,16;1,2,16,16", "--input_type=float")["runtime"])
        self.refused(1, model, "--input_dims=1,2,16,16;1,3,16,16", "--input_type=float", needed=["does not run"])

    def test_quantised_input(self):
        path = self.convert("quant_quint8_bundled.pt", "--nhwc", "--quant", "full", "--runtime", "shim")
        sample = torch.jit.load(str(self.fixture("quant_quint8_bundled.pt"))).get_all_bundled_inputs()[0][0]
        sizes = ",".join(map(str, sample.shape))
        good = f"--input_type=quint8:{sample.q_scale()!r}:{sample.q_zero_point()}"
        self.assertEqual("shim", self.report(f"--model={path}", f"--input_dims={sizes}", good)["runtime"])
        self.refused(1, f"--model={path}", f"--input_dims={sizes}", "--input_type=quint8:0.5:3",
                     needed=["scale 0.5 found"])


class BenchOfFiles(Bench):
    """shim_file_run, which opens archives by the C interface, without LibTorch."""

    def run_file(self, path, *arguments) -> Dict:
        command = [str(PROGRAM.with_name("shim_file_run")), str(path), str(NULL_NNAPI), "10", *map(str, arguments)]
        done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return json.loads(done.stdout)

    def test_weights_are_not_held(self):
        """Neither those of a file that is mapped, nor those that a cache's token was made of."""
        layers = [torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.Flatten(), torch.nn.Linear(4096, 1024)]
        torch.jit.trace(torch.nn.Sequential(*layers).eval(),
                        torch.zeros(1, 3, 16, 16)).save(str(self.folder / "large.pt"))
        path = self.convert(self.folder / "large.pt", "--nhwc", "--runtime", "shim", "--no-self-check", "--input",
                            "1,3,16,16")
        self.assertGreater(path.stat().st_size, 16e6)
        cache = self.folder / "cache"
        cache.mkdir()
        for arguments in ([], [cache]):
            memory = self.run_file(path, *arguments)["memory_bytes"]
            growth = memory["after_first_inference"]["resident"] - memory["at_start"]["resident"]
            self.assertGreater(memory["at_start"]["resident"], 0)
            self.assertLess(growth, 4e6, arguments)


class BenchRefusals(Bench):
    def test_command_line(self):
        model = f"--model={self.fixture('residual.pt')}"
        for arguments, fragment in [
                ([], "--model is required"),
                ([model], "no inputs given"),
                ([model, "--input_dims=1,3"], "--input_type needed"),
                ([model, "--input_type=float"], "--input_dims needed"),
                ([model, *SIZES, "--no_inputs"], "exclude each other"),
                ([model, "--input_dims=1,x", "--input_type=float"], "'x' found"),
                ([model, "--input_dims=1,,3", "--input_type=float"], "'' found"),
                ([model, "--input_dims=1,3", "--input_type=double"], "'double' found"),
                ([model, "--input_dims=1,3", "--input_type=quint8:0:3"], "quint8:SCALE:ZERO_POINT needed"),
                ([model, "--input_dims=1,3", "--input_type=quint8:inf:3"], "quint8:SCALE:ZERO_POINT needed"),
                ([model, "--input_dims=99999999999,99999999999", "--input_type=float"], "99999999999,99999999999"),
                ([model, "--input_dims=1,3;1,3;1,3", "--input_type=float;float"], "2 parts found, 3 needed"),
                ([model, "--input_dims=1,3", "--input_type=float", "--input_memory_format=channels_last"], "4 needed"),
                ([model, *SIZES, "--input_memory_format=nhwc"], "'nhwc' found"),
                ([model, "--use_bundled_input=0"], "has no bundled inputs"),
                ([f"--model={self.fixture('bundled.pt')}", "--use_bundled_input=99"], "99 found"),
                ([model, *SIZES, "--iter=0"], "--iter"),
                ([model, *SIZES, "--warmup=-1"], "--warmup"),
                ([model, *SIZES, "--shim_option=device"], "KEY=VALUE needed"),
                ([model, *SIZES, "--shim_option=device=x"], "not one for the shim"),
                ([model, *SIZES, "--vulkan"], "--vulkan")]:
            with self.subTest(arguments=arguments):
                self.refused(2, *arguments, needed=[fragment])

    def test_options_that_the_shim_does_not_have(self):
        path = self.both()["shim"]
        self.refused(2, f"--model={path}", "--use_bundled_input=0", "--shim_option=devise=x", needed=["devise"])

    def test_compare_needs_a_cpu_model(self):
        paths = self.both()
        self.refused(2, f"--model={paths['shim']}", "--use_bundled_input=0", f"--compare={paths['pytorch']}",
                     needed=["is a model for NNAPI"])

    def test_files(self):
        text = self.folder / "text.pt"
        text.write_text("import torch\n" * 100)
        for path, fragment in [(self.folder / "none.pt", "no such file"), (self.folder, "it is a folder"),
                               (text, "no TorchScript archive")]:
            self.refused(3, f"--model={path}", *SIZES, needed=[str(path), fragment])
        model = f"--model={self.fixture('residual.pt')}"
        self.refused(3, model, *SIZES, f"--nnapi_library={self.folder / 'none.so'}", needed=["none.so"])

    def test_a_report_that_cannot_be_written(self):
        done = self.run_bench(f"--model={self.fixture('residual.pt')}", *SIZES,
                              f"--report={self.folder / 'no' / 'x.json'}")
        self.assertEqual(3, done.returncode)
        self.assertIn("can't write", done.stderr)

    def test_an_existing_report_survives_a_failure(self):
        report = self.folder / "report.json"
        report.write_text("precious")
        self.refused(3, f"--model={self.folder / 'none.pt'}", *SIZES, f"--report={report}")
        self.assertEqual("precious", report.read_text())

    def test_models_that_do_not_run(self):
        self.refused(1, f"--model={self.fixture('residual.pt')}", "--input_dims=1,4,16,16", "--input_type=float",
                     needed=["residual.pt does not run: "])
        path = self.both()["shim"]
        self.refused(1, f"--model={path}", "--use_bundled_input=0", "--shim_option=device=nowhere",
                     needed=["shim.pt does not run: ", "nowhere"])

    def test_help(self):
        done = self.run_bench("--help")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        for fragment in ("--use_bundled_input", "--use_caching_allocator", "--vulkan", "--pytext_len", "Exit codes:"):
            self.assertIn(fragment, done.stdout)
        self.assertEqual([], [line for line in done.stdout.splitlines() if len(line) > 160])


if __name__ == "__main__":
    unittest.main()
