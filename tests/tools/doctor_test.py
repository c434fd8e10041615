# SPDX-License-Identifier: BSD-3-Clause
"""nnapi-probe's doctor on an NNAPI that computes chosen operations wrongly (tests/doctor/spoilt_nnapi.cpp): it names them,
and a file converted by its answer is right there."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import jsonschema
import torch
from torch import nn

from cli import HOST, LIBRARIES, PROGRAM, ROOT, CliTest, environment, run

PROBE = os.environ.get("NNAPI_PROBE", str(pathlib.Path(PROGRAM).parent / "nnapi-probe"))
SPOILT = LIBRARIES / "spoilt_nnapi/libspoilt_nnapi.so"
SPOILT_LEVEL1 = LIBRARIES / "spoilt_nnapi/libspoilt_nnapi_level1.so"
SCHEMAS = {name: json.loads((ROOT / f"schemas/{name}.schema.json").read_text())
           for name in ("doctor", "device_profile", "driver_rules")}
REPORT_SCHEMA = json.loads((ROOT / "schemas/report.schema.json").read_text())
ADD, AVERAGE_POOL, CONV, DEPTHWISE, DENSE, LOGISTIC, MAX_POOL, MUL, SOFTMAX, QUANTIZE = 0, 1, 3, 4, 9, 14, 17, 18, 25, 72
HARD_SWISH = 99
FAULTS = ("wrong", "error", "crash", "hang")


class Blocks(nn.Module):
    """Inverted residuals with operations that occur once and several times, before and after others."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.wide = nn.Conv2d(8, 16, 1)
        self.depthwise = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.narrow = nn.Conv2d(16, 8, 1)
        self.down = nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.depthwise2 = nn.Conv2d(12, 12, 3, padding=1, groups=12)
        self.out = nn.Conv2d(12, 12, 1)
        self.dense = nn.Linear(12, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.stem(x))
        x = x + self.narrow(torch.relu(self.depthwise(torch.relu(self.wide(x)))))
        x = torch.relu(self.down(x))
        x = x + self.out(torch.sigmoid(self.depthwise2(x)))
        return torch.softmax(self.dense(x.mean([2, 3])), 1)


class DoctorTest(CliTest):
    def converted(self, *options, name="out.pt"):
        model = self.folder / "model.pt"
        if not model.exists():
            torch.jit.trace(Blocks().eval(), torch.rand(1, 3, 16, 16)).save(str(model))
        path = self.folder / name
        self.succeed(model, "--nhwc", "--input", "1,3,16,16", "--runtime", "shim", "--min-segment-macs", "0", "-o", path,
                     *options)
        return path

    def start(self, file, fault, *options, library=SPOILT, folder="results", **variables):
        results = self.folder / folder
        results.mkdir(exist_ok=True)
        command = [PROBE, "--doctor", str(file), "--library", str(library), "--limit", "5", "--runs", "1", "--folder",
                   str(results), *map(str, options)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=environment({"SPOILT_NNAPI": fault, **variables}))

    def examine(self, file, fault="", *options, folder="results", **more):
        process = self.start(file, fault, *options, folder=folder, **more)
        stdout, stderr = process.communicate(timeout=120)
        self.assertEqual(0, process.returncode, stdout + stderr)
        report = json.loads((self.folder / folder / "doctor.json").read_text())
        self.check(report)
        self.stdout = stdout
        return report["devices"][0]

    def check(self, report):
        for name, schema in SCHEMAS.items():
            for item in ([report] if name == "doctor" else [device[name] for device in report["devices"]]):
                jsonschema.Draft202012Validator(schema).validate(item)

    def faulty(self, device):
        return {(operation["operation"], tuple(operation["sizes"]))
                for segment in device["segments"] for operation in segment["operations"]
                if any(operation[way]["finding"] in FAULTS for way in ("alone", "in_place") if way in operation)}

    def findings(self, device, way="alone"):
        return {operation[way]["finding"] for segment in device["segments"] for operation in segment["operations"]
                if way in operation and operation[way]["finding"] in FAULTS}

    def convert_again(self, device, fault):
        """The file converted by the doctor's profile is right on the same device."""
        profile = self.folder / "profile.json"
        profile.write_text(json.dumps(device["device_profile"]))
        again = self.converted("--device-profile", profile, name="again.pt")
        found = self.examine(again, fault, folder="again")
        self.assertTrue(found["is_right"], found["conclusion"])
        return again, found


class Alone(DoctorTest):
    """Operations that are wrong by themselves."""

    def test_kinds_of_wrong(self):
        file = self.converted()
        depthwise = {("DEPTHWISE_CONV_2D", (1, 16, 16, 16)), ("DEPTHWISE_CONV_2D", (1, 8, 8, 12))}
        for way, amount, finding in [("scale", 1.3, "wrong"), ("nan", 1, "wrong"),
                                     ("crash", 1, "crash"), ("refuse", 1, "error"), ("refuse_compile", 1, "error")]:
            with self.subTest(way=way):
                fault = f"{way} {DEPTHWISE} - -1 {amount} 1 0"
                device = self.examine(file, fault)
                self.assertFalse(device["is_right"])
                self.assertEqual(depthwise, self.faulty(device))
                self.assertEqual({finding}, self.findings(device))
                rules = device["device_profile"]["refuses"]
                self.assertEqual(1, len(rules))
                self.assertEqual({"operations", "types", "reason"}, set(rules[0]))
                self.convert_again(device, fault)

    def test_hang(self):
        fault = f"hang {SOFTMAX} - -1 1 0 0"
        device = self.examine(self.converted(), fault, "--limit", 3)
        self.assertEqual({("SOFTMAX", (1, 10))}, self.faulty(device))
        self.assertEqual({"hang"}, self.findings(device))
        self.convert_again(device, fault)

    def test_channel_is_named(self):
        device = self.examine(self.converted(), f"channel {CONV} 1x8x8x12 -1 5 7 0")
        wrong = [operation["alone"]["error"] for operation in device["segments"][0]["operations"]
                 if operation["alone"]["finding"] == "wrong"]
        self.assertTrue(wrong)
        for error in wrong:
            self.assertEqual((1, 12, [7]), (error["wrong_channels"], error["channels"], error["first_wrong_channels"]))

    def test_one_shape(self):
        """Convolutions of other sizes stay on the device."""
        fault = f"scale {CONV} 1x16x16x16 -1 1.5 0 0"
        device = self.examine(self.converted(), fault)
        self.assertEqual({("CONV_2D", (1, 16, 16, 16))}, self.faulty(device))
        _, again = self.convert_again(device, fault)
        kept = sum(operation["multiply_adds"] for segment in again["segments"] for operation in segment["operations"])
        whole = sum(operation["multiply_adds"] for operation in device["segments"][0]["operations"])
        wrong = 16 * 16 * 16 * 8
        self.assertGreaterEqual(kept, 0.9 * (whole - wrong))
        rules = json.loads((self.folder / "results/driver_rules.json").read_text())
        jsonschema.Draft202012Validator(SCHEMAS["driver_rules"]).validate(rules)
        self.assertEqual([1], [len(rule["sizes"]) for rule in rules["rules"]])

    def test_not_taken(self):
        device = self.examine(self.converted(), f"untaken {LOGISTIC} - -1 1 0 0", "--all")
        self.assertTrue(device["is_right"])
        self.assertEqual(["LOGISTIC"], device["device_profile"]["refuses"][0]["operations"])
        self.assertEqual([], device["driver_rules"]["rules"])

    def test_quantised(self):
        model = ROOT / "testdata/models/quant.pt"
        file = self.folder / "quant.pt"
        self.succeed(model, "--nhwc", "--quant", "full", "--runtime", "shim", "-o", file)
        names = {operation["operation"] for operation in
                 self.examine(file, "", "--all")["segments"][0]["operations"]}
        self.assertIn("CONV_2D", names)
        device = self.examine(file, f"scale {CONV} - -1 1.5 0 0")
        self.assertEqual({"CONV_2D"}, {name for name, _ in self.faulty(device)})
        errors = [operation["alone"]["error"] for operation in device["segments"][0]["operations"]
                  if operation["alone"]["finding"] == "wrong"]
        self.assertEqual({"quanta"}, {error["unit"] for error in errors})


class InPlace(DoctorTest):
    def test_predecessor(self):
        fault = f"scale {ADD} - {CONV} 1.4 0 0"
        device = self.examine(self.converted(), fault)
        self.assertEqual({("ADD", (1, 16, 16, 8)), ("ADD", (1, 8, 8, 12))}, self.faulty(device))
        self.assertEqual({"wrong"}, self.findings(device, "in_place"))
        rule = device["device_profile"]["refuses"][0]
        self.assertEqual(["CONV_2D"], rule["after"])
        count = len(device["segments"][0]["operations"])
        self.assertLessEqual(device["segments"][0]["bisection_compilations"], 2 * count.bit_length() + 12)
        self.convert_again(device, fault)

    def test_two_faults(self):
        fault = f"scale {ADD} 1x8x8x12 {CONV} 1.4 0 0;crash {SOFTMAX} - -1 1 0 0"
        device = self.examine(self.converted(), fault)
        self.assertEqual({("ADD", (1, 8, 8, 12)), ("SOFTMAX", (1, 10))}, self.faulty(device))
        self.convert_again(device, fault)

    def test_operations_after_a_wrong_one_are_not_blamed(self):
        """The first CONV_2D reads what the wrong QUANTIZE makes; the second one alone stands behind a depthwise one."""
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3, groups=8), nn.ReLU(), nn.Conv2d(8, 4, 1)).eval()
        torch.jit.trace(net, torch.rand(1, 3, 16, 16)).save(str(self.folder / "model.pt"))
        file = self.converted("--calibrate", "random:4")
        device = self.examine(file, f"scale {QUANTIZE} - -1 0.5 0 0;scale {CONV} - {DEPTHWISE} 2.5 0 0")
        found = [(operation["operation"], "in_place" in operation) for operation in device["segments"][0]["operations"]
                 if any(operation[way]["finding"] in FAULTS for way in ("alone", "in_place") if way in operation)]
        self.assertEqual([("QUANTIZE", False), ("CONV_2D", True)], found)

    def test_a_small_difference_that_grows(self):
        """It is beyond what may be only operations after the wrong one."""
        file = self.folder / "fbnet.pt"
        self.succeed(ROOT / "build/models/fbnet.pt", "--nhwc", "--calibrate", "random:2", "--runtime", "shim", "-o", file)
        device = self.examine(file, f"channel {CONV} - {CONV} 2.5 4 0")
        found = [(operation["reads"], operation["operation"], operation["in_place"]["finding"])
                 for operation in device["segments"][0]["operations"] if "in_place" in operation]
        self.assertEqual([(["CONV_2D"], "CONV_2D", "wrong")] * 3, found)
        count = len(device["segments"][0]["operations"])
        self.assertLessEqual(device["segments"][0]["bisection_compilations"], 2 * count.bit_length() + 12)


class NoFault(DoctorTest):
    def test_healthy(self):
        device = self.examine(self.converted(), "", "--all")
        self.assertTrue(device["is_right"])
        self.assertEqual(set(), self.faulty(device))
        self.assertEqual([], device["device_profile"]["refuses"])

    def test_half_precision(self):
        """Said, and no fault."""
        device = self.examine(self.converted(), "half -1 - -1 1 0 0", "--all")
        self.assertTrue(device["computes_in_half_precision"])
        self.assertEqual(set(), self.faulty(device))
        self.assertIn("half precision", device["conclusion"])

    def test_reference_that_disagrees(self):
        """Where the expected values are themselves wrong by the samples, no device is blamed for that."""
        results = self.folder / "results"
        results.mkdir()
        done = subprocess.run([PROBE, "--doctor", str(self.converted()), "--library", str(SPOILT), "--reference", "alpha",
                               "--device", "nnapi-reference", "--folder", str(results)],
                              env=environment({"SPOILT_NNAPI": f"scale {CONV} - -1 1.5 0 0"}), capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(0, done.returncode, done.stderr)
        report = json.loads((results / "doctor.json").read_text())
        self.assertNotEqual([""], report["reference_disagrees"])
        self.assertTrue(report["devices"][0]["is_right"])
        self.assertIn("no device is to blame", done.stdout)


class ComesAndGoes(DoctorTest):
    """Faults that are not there in each run: no run that happens to be right excuses them."""

    def test_some_runs_are_wrong(self):
        for fault in (f"flaky {DENSE} - -1 2.147 4 0", f"flaky {LOGISTIC} - -1 1.58 4 0", f"late {DENSE} - -1 2.147 3 0"):
            with self.subTest(fault):
                device = self.examine(self.converted(), fault, folder=fault.replace(" ", ""))
                name = "FULLY_CONNECTED" if f" {DENSE} " in fault else "LOGISTIC"
                self.assertFalse(device["is_right"])
                self.assertEqual({name}, {operation for operation, _ in self.faulty(device)})
                self.assertEqual({"wrong"}, self.findings(device))
                self.assertFalse(device["computes_in_half_precision"], device["conclusion"])
                self.assertFalse(device["segments"][0]["copies_weights"], device["conclusion"])
                (alone,) = [operation["alone"] for operation in device["segments"][0]["operations"]
                            if operation["alone"]["finding"] == "wrong"]
                self.assertTrue(0 < alone["wrong_runs"] < alone["runs"], alone)
                (rule,) = device["device_profile"]["refuses"]
                self.assertRegex(rule["reason"], rf"in {alone['wrong_runs']} of {alone['runs']} runs$")
                self.assertRegex(self.stdout, r"in \d+ of \d+ runs")
                self.convert_again(device, fault)

    def test_half_precision_is_still_no_fault(self):
        """A device of half precision whose dense layer is wrong now and then: half precision explains the others alone."""
        device = self.examine(self.converted(), f"half -1 - -1 1 0 0;flaky {DENSE} - -1 2.147 4 0")
        self.assertTrue(device["computes_in_half_precision"])
        self.assertEqual({"FULLY_CONNECTED"}, {operation for operation, _ in self.faulty(device)})

    def test_crashes_that_come_and_go(self):
        device = self.examine(self.converted(), f"crash_sometimes {DENSE} - -1 1 4 0")
        self.assertEqual({"FULLY_CONNECTED"}, {operation for operation, _ in self.faulty(device)})
        self.assertEqual({"crash"}, self.findings(device))


class Examined(DoctorTest):
    """A file that is converted by the doctor's profile has nothing that no doctor has examined."""

    def test_the_level_is_that_of_the_file(self):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Hardswish(), nn.Conv2d(8, 4, 1), nn.Sigmoid()).eval()
        torch.jit.trace(net, torch.rand(1, 3, 16, 16)).save(str(self.folder / "model.pt"))
        fault = f"scale {HARD_SWISH} - -1 1.5 0 0;scale {LOGISTIC} - -1 1.5 0 0"
        device = self.examine(self.converted(), fault)
        self.assertEqual({"LOGISTIC"}, {operation for operation, _ in self.faulty(device)})
        self.assertGreater(device["feature_level"], 3)
        self.assertEqual(3, device["device_profile"]["device"]["feature_level"])
        self.convert_again(device, fault)
        high = self.converted("--feature-level", 4, name="high.pt")
        device = self.examine(high, fault, folder="high")
        self.assertEqual({"LOGISTIC", "HARD_SWISH"}, {operation for operation, _ in self.faulty(device)})
        self.assertEqual(4, device["device_profile"]["device"]["feature_level"])

    def test_nchw_is_named_where_nhwc_is_wrong(self):
        device = self.examine(self.converted(), f"scale {CONV} 1x8x8x12 -1 1.5 0 0")
        self.assertIn("--nchw", device["conclusion"])
        device = self.examine(self.converted(), f"scale {SOFTMAX} - -1 1.5 0 0", folder="softmax")
        self.assertNotIn("--nchw", device["conclusion"])

    def test_quantised_files_pass_their_own_check(self):
        """What is computed in floats, around what is wrong in 8 bits, is what the new file's samples expect."""
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, groups=8), nn.ReLU(),
                            nn.Conv2d(8, 4, 1), nn.Sigmoid()).eval()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter *= 3
        torch.jit.trace(net, torch.rand(1, 3, 16, 16)).save(str(self.folder / "model.pt"))
        for options in (["--calibrate", "random:4"], ["--calibrate", "random:4", "--quant", "full"]):
            for code in (CONV, DEPTHWISE, LOGISTIC):
                fault = f"scale8 {code} - -1 1.5 0 0"
                with self.subTest(options=options, fault=fault):
                    name = f"{len(options)}_{code}"
                    device = self.examine(self.converted(*options), fault, folder=f"results{name}")
                    if not self.faulty(device):
                        self.assertEqual(LOGISTIC, code, "LOGISTIC is of floats there")
                        continue
                    self.assertFalse(device["is_right"])
                    profile = self.folder / f"{name}.json"
                    profile.write_text(json.dumps(device["device_profile"]))
                    again = self.converted(*options, "--device-profile", profile, name=f"again{name}.pt")
                    found = self.examine(again, fault, folder=f"again{name}")
                    self.assertTrue(found["is_right"], found["conclusion"] + self.stdout)
                    self.assertTrue(self.examine(again, "", folder=f"healthy{name}")["is_right"])


class Files(DoctorTest):
    def test_results_do_not_replace_the_file(self):
        path = self.converted()
        before = path.read_bytes()
        for options in (("--json", path), ("--trace", path), ("--json", self.folder / "a", "--trace", self.folder / "a")):
            process = self.start(path, "", *options)
            _, stderr = process.communicate(timeout=60)
            self.assertEqual(2, process.returncode, stderr)
        self.assertEqual(before, path.read_bytes())


class Weights(DoctorTest):
    def test_copies_that_fail(self):
        """As where no service gives NNAPI memory for them: operations get their weights by the file."""
        no_copies = "copy -1 - -1 1 0 0"
        healthy = self.examine(self.converted(), no_copies, "--all")
        alone = {operation["alone"]["finding"] for segment in healthy["segments"] for operation in segment["operations"]}
        self.assertEqual((True, {"right"}), (healthy["is_right"], alone))
        for way, finding in (("scale", "wrong"), ("crash", "crash"), ("refuse", "error")):
            device = self.examine(self.converted(), f"{no_copies};{way} {DENSE} - -1 1.5 0 0", folder=way)
            self.assertEqual(({("FULLY_CONNECTED", (1, 10))}, {finding}), (self.faulty(device), self.findings(device)))


class Levels(DoctorTest):
    def test_android_8(self):
        """Where devices can't be named, what NNAPI chooses is examined."""
        file = self.converted("--feature-level", 1)
        reference = ("--reference-library", HOST / "level1/libneuralnetworks.so")
        device = self.examine(file, f"scale {DEPTHWISE} - -1 1.3 0 0", *reference, library=SPOILT_LEVEL1)
        self.assertEqual("", device["name"])
        self.assertEqual({"DEPTHWISE_CONV_2D"}, {name for name, _ in self.faulty(device)})
        self.assertTrue(self.examine(file, "", "--all", *reference, library=SPOILT_LEVEL1)["is_right"])


class Journal(DoctorTest):
    def test_killed_doctor_goes_on(self):
        """A doctor that was killed in a trial names that operation, and does not repeat what it knows."""
        file = self.converted()
        fault = f"hang {LOGISTIC} - -1 1 0 0"
        process = self.start(file, fault, "--limit", 60)
        journal = self.folder / "results/doctor.journal"
        # The second sign of waiting: the first is the whole model, which hangs, too.
        deadline = time.time() + 60
        while time.time() < deadline and not (journal.exists() and journal.read_text().count("begin") == 1):
            time.sleep(0.1)
        time.sleep(1.5)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        device = self.examine(file, fault, "--limit", 3)
        self.assertEqual("crash", device["segments"][0]["whole"][0]["finding"])
        self.assertIn("the doctor itself was ended", device["segments"][0]["whole"][0]["message"])
        self.assertEqual({"LOGISTIC"}, {name for name, _ in self.faulty(device)})
        self.assertFalse(journal.exists())


class Times(DoctorTest):
    def test_profile(self):
        file, trace = self.converted(), self.folder / "trace.json"
        done = subprocess.run([PROBE, "--doctor", str(file), "--library", str(SPOILT), "--profile", "--trace", str(trace)],
                              env=environment(), capture_output=True, text=True, timeout=120)
        self.assertEqual(0, done.returncode, done.stderr)
        shares = [float(line.split()[1][:-1]) for line in done.stdout.splitlines()[2:]]
        self.assertEqual(sorted(shares, reverse=True), shares)
        self.assertAlmostEqual(100, sum(shares), delta=1)
        events = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
        self.assertEqual(len(shares), len(events))

    def test_prefixes(self):
        file, found = self.converted(), self.folder / "times.json"
        done = subprocess.run([PROBE, "--doctor", str(file), "--library", str(SPOILT), "--profile", "--prefixes", "--json",
                               str(found)], env=environment(), capture_output=True, text=True, timeout=120)
        self.assertEqual(0, done.returncode, done.stderr)
        report = json.loads(found.read_text())
        jsonschema.validate(report, SCHEMAS["doctor"])
        segment = report["devices"][0]["segments"][0]
        added = [operation["added_microseconds"] for operation in segment["operations"]]
        self.assertGreater(sum(added), 0)
        self.assertLess(sum(added), 20 * segment["whole"][0]["microseconds"] + 1000)
        rows = [line.split() for line in done.stdout.splitlines()[2:]]
        self.assertEqual(len(added), len(rows))
        for expected, row in zip(sorted(added, reverse=True), rows):
            self.assertAlmostEqual(expected, float(row[0]), delta=0.06)

    def test_prefixes_of_no_times(self):
        done = subprocess.run([PROBE, "--doctor", str(self.converted()), "--library", str(SPOILT), "--prefixes"],
                              env=environment(), capture_output=True, text=True, timeout=120)
        self.assertEqual(2, done.returncode)
        self.assertIn("--prefixes needs --profile", done.stderr)


class Situations(DoctorTest):
    def test_mobilenet_with_wrong_depthwise(self):
        """Float MobileNetV2 whose depthwise convolutions are off (onnxruntime#19518), from one command to a right file
        that uses the device for the rest."""
        model = pathlib.Path(os.environ.get("NNAPI_MODELS", ROOT / "build/models")) / "mobilenet_v2.pt"
        if not model.exists():
            self.skipTest("scripts/makers/make_models.py build/models")
        phones = self.folder / "phones"
        (phones / "SERIAL1").mkdir(parents=True)
        out = self.folder / "out.pt"
        result = run("phone", model, "--nhwc", "--input", "1,3,64,64", "--probe", PROBE, "--library", SPOILT, "--adb",
                     ROOT / "tests/tools/stand_in_adb.py", "-o", out,
                     env={"STAND_IN_ADB": str(phones), "SPOILT_NNAPI": f"scale {DEPTHWISE} - -1 1.3 0 0"})
        self.assertEqual(0, result.code, str(result))
        self.assertIn("converts it again", result.stderr)
        device = self.examine(out, "", "--all")
        names = {operation["operation"] for segment in device["segments"] for operation in segment["operations"]}
        self.assertIn("CONV_2D", names)
        self.assertNotIn("DEPTHWISE_CONV_2D", names)
        kept = sum(operation["multiply_adds"] for segment in device["segments"] for operation in segment["operations"])
        whole = self.folder / "whole.pt"
        self.succeed(model, "--nhwc", "--input", "1,3,64,64", "--runtime", "shim", "-o", whole)
        perfect = sum(operation["multiply_adds"] for operation in self.examine(whole, "", "--all")["segments"][0]["operations"]
                      if operation["operation"] != "DEPTHWISE_CONV_2D")
        self.assertGreaterEqual(kept, 0.9 * perfect)


class Faults(DoctorTest):
    def test_random_faults_of_one_network(self):
        command = [sys.executable, str(ROOT / "scripts/sweeps/doctor_faults.py"), "--count", "2", "--networks", "mlp", "--seed", "3"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertIn("2 of 2 faults are named and mended", done.stdout)


class Page(DoctorTest):
    def test_wrong_is_coloured(self):
        file = self.converted()
        self.examine(file, f"scale {LOGISTIC} - -1 1.5 0 0")
        doctor = self.folder / "results/doctor.json"
        page = self.succeed("inspect", file, "--format", "html", "--doctor", doctor).stdout
        report = json.loads(page.split('id="report">')[1].split("</script>")[0])
        jsonschema.validate(report, REPORT_SCHEMA)
        nodes = [node for step in report["graph"]["steps"] for node in step["nodes"]]
        self.assertEqual(["LOGISTIC"], [node["op"] for node in nodes if node.get("finding", {}).get("level") == "bad"])
        self.assertEqual(("alpha", "bad"), (report["doctor"]["device"], report["doctor"]["level"]))
        self.fail_with(2, "inspect", file, "--doctor", doctor, needed=["--format html"])
        other = self.folder / "other.pt"
        self.succeed(ROOT / "testdata/models/depthwise.pt", "--nhwc", "--runtime", "shim", "-o", other)
        self.fail_with(3, "inspect", other, "--format", "html", "--doctor", doctor, needed=["other operations"])


class Phone(DoctorTest):
    def phone(self, *arguments, phones=("SERIAL1",), code=0, fault=""):
        for serial in phones:
            (self.folder / "phones" / serial).mkdir(parents=True, exist_ok=True)
        self.converted()  # makes the model
        result = run("phone", self.folder / "model.pt", "--nhwc", "--input", "1,3,16,16", "--probe", PROBE, "--library",
                     SPOILT, "--adb", ROOT / "tests/tools/stand_in_adb.py", "-o", self.folder / "phone.pt", *arguments,
                     env={"STAND_IN_ADB": str(self.folder / "phones"), "SPOILT_NNAPI": fault})
        self.assertEqual(code, result.code, str(result))
        return result

    def test_right_at_once(self):
        result = self.phone()
        self.assertNotIn("converts it again", result.stderr)
        self.assertIn("yes", result.stdout)

    def test_two_phones(self):
        result = self.phone("-s", "ONE", "-s", "TWO", phones=("ONE", "TWO"), fault=f"scale {LOGISTIC} - -1 1.5 0 0")
        rows = [line.split() for line in result.stdout.splitlines() if line.startswith(("ONE", "TWO"))]
        self.assertEqual([["2", "yes"], ["2", "yes"]], [row[2:4] for row in rows])
        self.assertTrue((self.folder / "phone-ONE.pt").exists() and (self.folder / "phone-TWO.pt").exists())

    def test_dry_run(self):
        result = self.phone("--dry-run")
        lines = result.stdout.splitlines()
        self.assertEqual(9, len(lines), result.stdout)
        self.assertTrue(any("--doctor" in line for line in lines))
        self.assertFalse((self.folder / "phone.pt").exists())
        self.assertEqual([], list((self.folder / "phones/SERIAL1").iterdir()))

    def test_files_that_are_read_are_not_replaced(self):
        model = self.folder / "model.pt"
        self.converted()
        before = model.read_bytes()
        for output, probe in ((model, PROBE), (self.folder / "probe", self.folder / "probe")):
            self.fail_with(2, "phone", model, "--nhwc", "--probe", probe, "--dry-run", "-o", output)
        self.fail_with(2, "phone", model, "--nhwc", "--probe", PROBE, "--dry-run", "-s", "ONE", "-s", "ONE", "-o",
                       self.folder / "phone.pt")
        self.assertEqual(before, model.read_bytes())

    def test_no_phone(self):
        (self.folder / "phones").mkdir()
        result = self.phone(phones=(), code=3)
        self.assertIn("no devices/emulators found", result.stderr)


if __name__ == "__main__":
    unittest.main()
