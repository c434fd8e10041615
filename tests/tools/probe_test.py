# SPDX-License-Identifier: BSD-3-Clause
"""nnapi-probe on the host's NNAPI: the profile that it writes describes the device that it asked."""

import json
import os
import pathlib
import subprocess
import unittest

import jsonschema

from cli import HOST, LIBRARIES, PROGRAM, ROOT, CliTest, environment

PROBE = os.environ.get("NNAPI_PROBE", str(pathlib.Path(PROGRAM).parent / "nnapi-probe"))
SCHEMA = json.loads((ROOT / "schemas/device_profile.schema.json").read_text())

# Each kind of condition, alone and together.
DEMANDING = {
    "version": 1,
    "device": {"name": "vendor/npu \"one\"", "version": "1\\2", "type": "gpu", "feature_level": 5},
    "refuses": [
        {"operations": ["LOGISTIC", "SIN"]},
        {"types": {"*": ["TENSOR_FLOAT16"]}},
        {"operations": ["CONV_2D"], "types": {"filter": ["TENSOR_QUANT8_SYMM_PER_CHANNEL"]}, "strides": [2, 9]},
        {"operations": ["CONV_2D", "FULLY_CONNECTED"], "constants": {"bias": False}},
        {"operations": ["MAX_POOL_2D", "AVERAGE_POOL_2D"], "paddings": ["SAME", "EXPLICIT"], "strides": [1, 1]},
        {"operations": ["DEPTHWISE_CONV_2D"], "paddings": ["VALID"], "layouts": ["NCHW"]},
        {"operations": ["CAST"], "types": {"input": ["TENSOR_INT32"], "output": ["TENSOR_FLOAT32"]}},
        {"operations": ["SOFTMAX"], "ranks": {"input": [1, 1]}},
        {"operations": ["SOFTMAX"], "ranks": {"input": [3, 3]}},
        {"operations": ["MUL"], "ranks": {"input1": [4, 4]}, "constants": {"input2": True}},
    ],
}


class ProbeTest(CliTest):
    def probe(self, *arguments, profile=None, code=0, library=HOST):
        extra = {"LD_LIBRARY_PATH": str(library), "NNAPI_HOST_PROFILE": str(profile or "")}
        if profile is None:
            del extra["NNAPI_HOST_PROFILE"]
        done = subprocess.run([PROBE, *map(str, arguments)], capture_output=True, text=True, env=environment(extra),
                              timeout=120)
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        if code != 0:
            self.assertEqual("", done.stdout)
            self.assertEqual(1, done.stderr.count("nnapi-probe: error: "), done.stderr)
        return done


class Probe(ProbeTest):
    def answers(self, device, profile):
        done = self.probe("--device", device, "--answers", profile=profile)
        self.assertEqual("", done.stderr)
        return done.stdout.splitlines()

    def written(self, name, content):
        path = self.folder / name
        path.write_text(json.dumps(content))
        return path

    def assert_round_trip(self, profile):
        """The host under the written profile answers each question of the grid as under the original."""
        device = json.loads(profile.read_text())["device"]
        expected = self.answers(device["name"], profile)
        written = self.folder / "written.json"
        self.probe("--device", device["name"], "--output", written, profile=profile)
        content = json.loads(written.read_text())
        jsonschema.Draft202012Validator(SCHEMA).validate(content)
        self.assertEqual(device, content["device"])
        self.assertEqual(expected, self.answers(device["name"], written))
        again = self.probe("--device", device["name"], profile=written).stdout
        self.assertEqual(written.read_text(), again)
        self.assertTrue(any(line.endswith(": refused") for line in expected))
        self.assertTrue(any(line.endswith(": accepted") for line in expected))
        return content, expected

    def test_full_disk(self):
        """The system says so only when the file is closed."""
        for arguments in (["--list"], ["--device", "nnapi-convert-host", "--answers"],
                          ["--device", "nnapi-convert-host"]):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                done = subprocess.run([PROBE, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120,
                                      env=environment({"LD_LIBRARY_PATH": str(HOST)}))
                self.assertEqual(3, done.returncode, done.stderr)
                self.assertIn("can't write", done.stderr)

    def test_picky(self):
        content, answers = self.assert_round_trip(ROOT / "testdata/profiles/picky.json")
        self.assertIn("RELU input=TENSOR_FLOAT32 input.rank=4: accepted", answers)
        self.assertIn("RELU input=TENSOR_QUANT8_ASYMM input.rank=4: refused", answers)
        self.assertIn("CONV_2D input=TENSOR_FLOAT32 filter=TENSOR_FLOAT32 filter=computed bias=constant SAME NHWC "
                      "stride=1: refused", answers)
        rule = next(rule for rule in content["refuses"] if "ABS" in rule["operations"])
        self.assertEqual({"operations"}, set(rule))

    def test_every_condition(self):
        content, answers = self.assert_round_trip(self.written("demanding.json", DEMANDING))
        rules = [dict(rule, operations=sorted(rule["operations"])) for rule in content["refuses"]]
        for expected in [{"operations": ["LOGISTIC", "SIN"]},
                         {"operations": ["SOFTMAX"], "ranks": {"input": [1, 1]}},
                         {"operations": ["SOFTMAX"], "ranks": {"input": [3, 3]}},
                         {"operations": ["CAST"], "types": {"input": ["TENSOR_INT32"], "output": ["TENSOR_FLOAT32"]}},
                         {"operations": ["DEPTHWISE_CONV_2D"], "layouts": ["NCHW"], "paddings": ["VALID"]},
                         {"operations": ["MUL"], "ranks": {"input1": [4, 4]}, "constants": {"input2": True}},
                         {"operations": ["CONV_2D"], "strides": [2, 2],
                          "types": {"filter": ["TENSOR_QUANT8_SYMM_PER_CHANNEL"]}}]:
            self.assertIn(expected, rules)
        self.assertEqual(["AVERAGE_POOL_2D", "MAX_POOL_2D"],
                         next(rule["operations"] for rule in rules if rule.get("strides") == [1, 1]))
        unknown = next(rule for rule in rules if "reason" in rule)
        self.assertIn("LSTM", unknown["operations"])
        self.assertNotIn("CONV_2D", unknown["operations"])

    def test_a_device_that_takes_all(self):
        answers = self.answers("nnapi-convert-host", None)
        self.assertGreater(len(answers), 2000)
        self.assertEqual([], [line for line in answers if not line.endswith(": accepted")])
        rules = json.loads(self.probe("--device", "nnapi-convert-host").stdout)["refuses"]
        self.assertEqual(1, len(rules))
        self.assertIn("LSTM", rules[0]["operations"])

    def test_all_devices(self):
        profile = self.written("demanding.json", DEMANDING)
        folder = self.folder / "profiles"
        folder.mkdir()
        self.probe("--folder", folder, profile=profile)
        self.assertEqual(['nnapi-convert-host.json', 'vendor_npu "one".json'], sorted(os.listdir(folder)))
        listed = self.probe("--list", profile=profile).stdout
        self.assertIn('vendor/npu "one": gpu, version 1\\2, feature level 5\n', listed)

    def test_a_level_above_that_of_the_runtime(self):
        """As Android 10's nnapi-reference has it: the runtime's level is what can be used."""
        fake = LIBRARIES / "fake_nnapi/libfake_nnapi_level3.so"
        listed = self.probe("--list", "--library", fake).stdout
        self.assertEqual("nnapi-reference: cpu, version fake 1, feature level 3\n", listed)
        profile = json.loads(self.probe("--device", "nnapi-reference", "--library", fake).stdout)
        self.assertEqual(3, profile["device"]["feature_level"])

    def test_model(self):
        out = self.convert("residual.pt", "--nhwc", "--runtime", "shim", "--input", "1,3,16,16")
        refuses = {"version": 1, "device": {"name": "npu", "version": "1", "type": "accelerator", "feature_level": 4},
                   "refuses": [{"operations": ["ADD"]}]}
        profile = self.written("no-sums.json", refuses)
        lines = self.probe("--model", out, profile=profile).stdout.splitlines()
        sums = [line for line in lines if " ADD " in line]
        convolutions = [line for line in lines if " CONV_2D " in line]
        self.assertTrue(sums and convolutions)
        for line in sums:
            self.assertNotIn("npu", line)
        for line in convolutions:
            self.assertIn("nnapi-convert-host, npu", line)
        count = len(lines) - 3
        self.assertEqual([f"nnapi-convert-host takes {count} of {count} operations",
                          f"npu takes {count - len(sums)} of {count} operations"], lines[-2:])
        alone = self.probe("--model", out, "--device", "npu", profile=profile).stdout
        self.assertNotIn("nnapi-convert-host", alone)

    def test_model_with_flexible_sizes(self):
        out = self.convert("residual.pt", "--nhwc", "--runtime", "shim", "--input", "?,3,?,?")
        self.assertIn("--shape", self.probe("--model", out, code=3).stderr)
        self.assertIn("takes", self.probe("--model", out, "--shape", "2,3,32,32").stdout)
        self.assertIn("4", self.probe("--model", out, "--shape", "2,4,32,32", code=2).stderr)

    def test_errors(self):
        for arguments, fragment in [(["--devise"], "--help"), ([], "--device"), (["x"], "x: no argument"),
                                    (["--device", "nowhere"], "no device nowhere, but nnapi-convert-host"),
                                    (["--answers"], "--device"), (["--output", "x"], "--device"),
                                    (["--model", "x", "--shape", "1,,2"], "1,,2"),
                                    (["--model", "x", "--shape", "1,0"], "1,0")]:
            self.assertIn(fragment, self.probe(*arguments, code=2).stderr)
        self.assertIn("none.pt", self.probe("--model", "none.pt", code=3).stderr)
        target = self.folder / "none" / "profile.json"
        self.assertIn(str(target), self.probe("--device", "nnapi-convert-host", "--output", target, code=3).stderr)
        self.probe("--list", library=HOST / "level1", code=1)
        self.assertIn("libneuralnetworks.so", self.probe("--list", library=self.folder, code=1).stderr)
        self.assertIn("Exit codes", self.probe("--help").stdout)

class Bench(ProbeTest):
    """--bench times a file as an app without PyTorch runs it."""

    INPUT = "picture=1,3,16,16"

    def out(self, *options):
        return self.convert("residual.pt", "--nhwc", "--runtime", "shim", "--input", "1,3,16,16", *options)

    def test_times_and_memory(self):
        path = self.folder / "bench.json"
        done = self.probe("--bench", self.out(), "--input", self.INPUT, "--runs", "5", "--json", path)
        for line in ("runs without PyTorch", "Load: ", "First call: ", "Memory (resident): ", "Milliseconds of a call: min"):
            self.assertIn(line, done.stdout)
        report = json.loads(path.read_text())
        self.assertEqual((1, 5), (report["version"], report["runs"]))
        times = report["call_ms"]
        self.assertLessEqual(times["min"], times["p50"])
        self.assertLessEqual(times["p50"], times["max"])
        self.assertGreater(times["nnapi"], 0)
        self.assertLessEqual(report["memory_bytes"]["loaded"], report["memory_bytes"]["peak"])

    def test_wrong_inputs(self):
        out = self.out()
        for text in ("x", "x=1,,3", "x=1,3,:float32", "x=1:float99", "=1", "x=1,-3", "x=a"):
            self.assertIn("a name, sizes and perhaps a dtype", self.probe("--bench", out, "--input", text, code=2).stderr)
        self.assertIn("is missing", self.probe("--bench", out, code=2).stderr)
        self.assertIn("unknown", self.probe("--bench", out, "--input", self.INPUT, "--input", "y=3", code=2).stderr)
        self.assertIn("2 GiB", self.probe("--bench", out, "--input", "x=99999,99999,9", code=2).stderr)
        self.assertIn("dtype", self.probe("--bench", out, "--input", self.INPUT + ":int32", code=2).stderr)
        self.assertIn("--runs", self.probe("--bench", out, "--input", self.INPUT, "--runs", "0", code=2).stderr)

    def test_wrong_files(self):
        out = self.out()
        before = out.read_bytes()
        self.probe("--bench", out, "--input", self.INPUT, "--json", out, code=2)
        self.assertEqual(before, out.read_bytes())
        self.probe("--bench", self.folder / "missing.pt", "--input", self.INPUT, code=3)
        wrong = self.folder / "wrong.pt"
        wrong.write_bytes(b"no archive")
        self.probe("--bench", wrong, "--input", self.INPUT, code=3)
        done = subprocess.run([PROBE, "--bench", out, "--input", self.INPUT, "--json", self.folder / "no" / "such.json"],
                              capture_output=True, text=True, env=environment({"LD_LIBRARY_PATH": str(HOST)}), timeout=120)
        self.assertEqual(3, done.returncode)
        self.assertIn("such.json", done.stderr)


if __name__ == "__main__":
    unittest.main()
