#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Spoils an NNAPI device at random, and sees whether nnapi-probe's doctor names what is wrong, and whether a conversion by
its answer is right on that device.

    scripts/sweeps/doctor_faults.py [--count 500] [--seed 1] [--networks NAME...] [--models build/models] [--report FILE]
    scripts/sweeps/doctor_faults.py --healthy        # false alarms: all networks at feature levels 1, 3, 4 and 6

Build nnapi-convert, nnapi-probe and spoilt_nnapi before, and make the models: scripts/makers/make_models.py build/models. Faults
without an effect on the model's results beyond what its samples allow are drawn anew. Each fault is one line; a summary
comes at the end. Exit code 1 where something was not found or is not right.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from math import log2

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"
CONVERT = BUILD / "bin/nnapi-convert"
PROBE = pathlib.Path(os.environ.get("NNAPI_PROBE", BUILD / "bin/nnapi-probe"))
SPOILT = BUILD / "lib/spoilt_nnapi/libspoilt_nnapi.so"
OPERATIONS = json.loads((ROOT / "schemas/nnapi_operations.json").read_text())["operations"]
CODE_OF = {operation["name"]: operation["code"] for operation in OPERATIONS}

# Small pictures, so that most of the time goes into trials.
IMAGE = ["--nhwc", "--input", "1,3,64,64"]
SMALL_IMAGE = ["--nhwc", "--input", "1,3,32,32"]
# Float, quantised, transformer, LSTM: how each is converted.
NETWORKS = {
    "mobilenet_v2": IMAGE,
    "resnet18": SMALL_IMAGE,
    "squeezenet1_1": IMAGE,
    "mlp": ["--input", "1,784"],
    "unet_bilinear": SMALL_IMAGE,
    "transformer_encoder": ["--input", "1,9:int64"],
    "lstm_tagger": ["--input", "1,7:int64"],
    "attention_block": ["--input", "1,8,768", "--input", "1,8:int64"],
    # Quantised by data, so that what stays on the CPU is float, which the shim runs without PyTorch.
    "squeezenet1_1+int8": [*IMAGE, "--calibrate", "random:2"],
    "fbnet+int8": ["--nhwc", "--calibrate", "random:2"],
}
WAYS = ["scale", "scale", "channel", "channel", "nan", "crash", "refuse", "refuse_compile", "hang"]
NEEDS_PYTORCH = "has no record extra/nnapi_shim.index"
LIMIT = 5  # seconds for one trial
LEVELS = (1, 3, 4, 6)  # of NNAPI, for healthy devices


def run(command, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    environment.update(variables)
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, timeout=900)


class Network:
    """A converted network, and what the doctor tells of its operations on the device without a fault."""

    def __init__(self, name, options, models, folder):
        self.name, self.options, self.model, self.folder = name, options, models / f"{name.split('+')[0]}.pt", folder
        self.file = folder / f"{name}.pt"
        self.convert(self.file)
        report = self.examine(self.file, "", "--all")
        self.operations = [operation for segment in report["devices"][0]["segments"] for operation in segment["operations"]]

    def convert(self, output, *options):
        command = [CONVERT, self.model, *self.options, "--runtime", "shim", "-o", output, *options]
        done = run(command)
        if done.returncode != 0 and "convert it without --calibrate" in done.stderr:  # as a user would
            at = command.index("--calibrate")
            done = run([*command[:at], *command[at + 2:]])
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {done.stderr}")

    def examine(self, file, fault, *options):
        results = self.folder / "results"
        results.mkdir(exist_ok=True)
        done = run([PROBE, "--doctor", file, "--library", SPOILT, "--limit", LIMIT, "--runs", 1, "--folder", results,
                    *options], SPOILT_NNAPI=fault)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {fault}: {done.stderr}")
        return json.loads((results / "doctor.json").read_text())


class Fault:
    """One wrong thing; `concerned` are the numbers of the operations that it is about."""

    def __init__(self, network, random_numbers):
        operations = network.operations
        chosen = random_numbers.choice(operations)
        self.code = CODE_OF[chosen["operation"]]
        self.sizes, self.after = "-", -1
        predecessors = [name for name in chosen["reads"] if name != "INPUT"]
        self.where = random_numbers.choice(["kind", "shape", "neighbour" if predecessors else "shape"])
        before = None
        if self.where == "shape":
            self.sizes = "x".join(map(str, chosen["sizes"])) or "-"
        if self.where == "neighbour":
            before = random_numbers.choice(predecessors)
            self.after = CODE_OF[before]
        self.concerned = [
            number for number, each in enumerate(operations)
            if each["operation"] == chosen["operation"] and (self.sizes == "-" or each["sizes"] == chosen["sizes"]) and
            (before is None or before in each["reads"])
        ]
        self.way = random_numbers.choice(WAYS)
        if self.way == "hang" and len(self.concerned) > 2:
            self.way = "refuse"
        self.amount = random_numbers.choice([random_numbers.uniform(0.3, 0.85), random_numbers.uniform(1.2, 3)])
        self.channel = random_numbers.randrange(max(chosen["sizes"] or [1])) if self.way == "channel" else 0
        if self.way == "channel":
            self.amount = random_numbers.choice([0.0, 2.5, 4.0])
        self.operation = chosen["operation"]
        # What an answer that knows the fault would refuse.
        self.rule = {"operations": [self.operation]}
        if self.where == "shape":
            self.rule["sizes"] = {"output": [chosen["sizes"]]}
        if before is not None:
            self.rule["after"] = [before]

    def text(self):
        return f"{self.way} {self.code} {self.sizes} {self.after} {self.amount:.3f} {self.channel} 0"


def faulty(report):
    """Numbers of the operations that the doctor found faulty, and the largest number of compilations for a bisection."""
    numbers, trials, start = [], 0, 0
    for segment in report["devices"][0]["segments"]:
        for operation in segment["operations"]:
            findings = [operation[way]["finding"] for way in ("alone", "in_place") if way in operation]
            if any(finding in ("wrong", "error", "crash", "hang") for finding in findings):
                numbers.append(start + operation["number"])
        start += len(segment["operations"])
        trials = max(trials, segment["bisection_compilations"])
    return numbers, trials


def work_of(report):
    return sum(operation["multiply_adds"] for segment in report["devices"][0]["segments"]
               for operation in segment["operations"] if operation["is_taken"])


def merge(profiles):
    """The rules of several rounds, as one profile."""
    merged = json.loads(json.dumps(profiles[-1]))
    merged["refuses"] = [rule for profile in profiles for rule in profile["refuses"]]
    return merged


class Case:
    """A fault, or two, from the doctor to the file that was converted again."""

    def __init__(self, network, faults):
        self.network, self.faults = network, faults
        self.named, self.rounds, self.trials, self.kept = 0, 0, 0, None
        self.fault = ";".join(fault.text() for fault in faults)
        self.concerned = sorted({number for fault in faults for number in fault.concerned})

    def run(self):
        report = self.network.examine(self.network.file, self.fault)
        device = report["devices"][0]
        if device["is_right"] or not self.all_have_effects():
            return None
        named, self.trials = faulty(report)
        problems = []
        if not named:
            problems.append("nothing named")
        for fault in self.faults:
            if not set(named) & set(fault.concerned) and not self.is_hidden(fault, named):
                problems.append(f"{fault.text()} not named")
        wrong = sorted(set(named) - set(self.concerned))
        if wrong:
            problems.append(f"named without a fault: {wrong}")
        if self.trials > 2 * log2(len(self.network.operations)) + 12:
            problems.append(f"{self.trials} compilations to bisect")
        self.named = len(named)
        problems += self.convert_again(device)
        return problems

    def all_have_effects(self):
        """Each fault of a pair has to make the results wrong by itself."""
        return len(self.faults) == 1 or not any(
            self.network.examine(self.network.file, fault.text())["devices"][0]["is_right"] for fault in self.faults)

    def is_hidden(self, fault, named):
        """Whether all that has to stand before a fault is refused because of the other one, so that it never happens."""
        operations = self.network.operations
        before = [number for number, each in enumerate(operations) if CODE_OF[each["operation"]] == fault.after]
        return fault.after >= 0 and set(before) <= set(named)

    def perfect_work(self, profile):
        """The multiply-adds that an answer keeps on the device that knows the fault."""
        best = dict(profile, refuses=[fault.rule for fault in self.faults])
        path = self.network.folder / "best.json"
        path.write_text(json.dumps(best))
        file = self.network.folder / "best.pt"
        try:
            self.network.convert(file, "--device-profile", path)
        except RuntimeError:
            return 0
        return work_of(self.network.examine(file, "", "--all"))

    def convert_again(self, device):
        profiles = []
        perfect = self.perfect_work(device["device_profile"])
        self.rounds, self.kept = 0, None
        again = self.network.folder / "again.pt"
        while self.rounds < 4:
            self.rounds += 1
            profiles.append(device["device_profile"])
            profile = self.network.folder / "profile.json"
            profile.write_text(json.dumps(merge(profiles)))
            try:
                self.network.convert(again, "--device-profile", profile)
            except RuntimeError as error:
                return [] if perfect == 0 else [f"not converted: {error}"]
            report = self.network.examine(again, self.fault)
            device = report["devices"][0]
            if device["is_right"]:
                healthy = self.network.examine(again, "", "--all")
                self.kept = work_of(healthy) / perfect if perfect else 1.0
                if self.kept < 0.9:
                    return [f"keeps {self.kept:.3f} of the multiply-adds"]
                return []
        return [f"still wrong: {device['conclusion']}"]


def try_faults(arguments, networks, folder):
    random_numbers = random.Random(arguments.seed)
    failed, harmless, in_pytorch, done, rounds, most_trials = [], 0, 0, 0, {}, 0
    kept = []
    lines = open(arguments.report, "a", encoding="utf-8") if arguments.report else sys.stdout
    begin = time.time()
    while done < arguments.count and time.time() - begin < arguments.seconds:
        network = networks[done % len(networks)]
        faults = [Fault(network, random_numbers)]
        if done % 20 == 19:
            faults.append(Fault(network, random_numbers))
        case = Case(network, faults)
        try:
            problems = case.run()
        except RuntimeError as error:
            if NEEDS_PYTORCH in str(error):
                print(f"{network.name}: {case.fault}: {case.named} of {len(case.concerned)} named; what was converted again "
                      f"needs PyTorch, so that the doctor can't examine it", file=lines, flush=True)
                in_pytorch += 1
                continue
            problems = [str(error)]
        if problems is None:
            harmless += 1
            continue
        done += 1
        rounds[case.rounds] = rounds.get(case.rounds, 0) + 1
        most_trials = max(most_trials, case.trials)
        if case.kept is not None:
            kept.append(case.kept)
        if problems:
            failed.append(case)
        print(f"{done} {network.name}: {case.fault}: {case.named} of {len(case.concerned)} named, "
              f"{case.rounds} rounds, kept {case.kept}: {'; '.join(problems) or 'right'}", file=lines, flush=True)
    print(f"{done - len(failed)} of {done} faults are named and mended; {harmless} without effect were drawn anew, "
          f"and {in_pytorch} whose new file needs PyTorch; "
          f"rounds {dict(sorted(rounds.items()))}; most compilations to bisect {most_trials}; least kept "
          f"{min(kept, default=1):.3f}; {time.time() - begin:.0f} s", file=lines, flush=True)
    return not failed and done > 0


def try_healthy(arguments, folder):
    """The doctor with --all has to find nothing on a device without a fault."""
    files, alarms, refused = {level: 0 for level in LEVELS}, [], 0
    begin = time.time()
    models = sorted([*arguments.models.glob("*.pt"), *(ROOT / "testdata/models").glob("*.pt")])
    # A run that is stopped has seen all levels.
    for model in models:
        for level in LEVELS:
            if time.time() - begin > arguments.seconds:
                break
            output = folder / "healthy.pt"
            options = next((value for name, value in NETWORKS.items() if name == model.stem and value), None)
            tries = [options] if options else [["--nhwc"], ["--nhwc", "--input", "1,3,64,64"], []]
            for each in tries:
                done = run([CONVERT, model, *each, "--runtime", "shim", "--feature-level", level, "-o", output])
                if done.returncode == 0:
                    break
            if done.returncode != 0:
                refused += 1
                continue
            host = BUILD / f"lib/host/level{level}/libneuralnetworks.so"
            library = ["--library", SPOILT] if level > 4 else ["--library", host, "--reference-library", host]
            results = folder / "results"
            results.mkdir(exist_ok=True)
            done = run([PROBE, "--doctor", output, *library, "--all", "--runs", 1, "--limit", 200, "--folder", results],
                       **({"NNAPI_HOST_FEATURE_LEVEL": str(level)} if level > 4 else {}))
            if done.returncode != 0:
                if "no samples" in done.stderr or NEEDS_PYTORCH in done.stderr:
                    refused += 1
                    continue
                alarms.append(f"{model.name} at level {level}: {done.stderr.strip()}")
                print(alarms[-1], flush=True)
                continue
            files[level] += 1
            report = json.loads((results / "doctor.json").read_text())
            device = report["devices"][0]
            if not device["is_right"] or faulty(report)[0] or any(report["reference_disagrees"]):
                alarms.append(f"{model.name} at level {level}: {device['conclusion']}; {report['reference_disagrees']}")
                print(alarms[-1], flush=True)
    counts = ", ".join(f"{count} at level {level}" for level, count in files.items())
    print(f"{sum(files.values())} files ({counts}), {len(alarms)} false alarms; {refused} conversions refused or without "
          f"samples; {time.time() - begin:.0f} s", flush=True)
    return not alarms


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS))
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/models")
    parser.add_argument("--report", type=pathlib.Path, help="append the lines to this file")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--healthy", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if arguments.healthy:
            sys.exit(0 if try_healthy(arguments, folder) else 1)
        networks = []
        for each in arguments.networks:
            (folder / each).mkdir()
            networks.append(Network(each, NETWORKS[each], arguments.models, folder / each))
        sys.exit(0 if try_faults(arguments, networks, folder) else 1)


if __name__ == "__main__":
    main()
