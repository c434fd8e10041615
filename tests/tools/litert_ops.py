#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cases of testdata/ops through LiteRT, and compares with the host's NNAPI.

  litert_ops.py OP_CASES [FILE-OR-FOLDER...] [--every N] [--interpreter] [--keep FOLDER] [--list]

Floats have to agree within 1e-5 of the range (1e-4 in cases that LiteRT has to compute otherwise, see DECOMPOSED), integers
of 8 bits within one quantum, other integers and bools exactly. --interpreter runs the files in the Interpreter of TensorFlow
Lite 2.13 instead. --list prints the cases that LiteRT can't run, with reasons.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import litert

# NNAPI's operations that become several operators which round otherwise.
DECOMPOSED = {"LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN",
              "BIDIRECTIONAL_SEQUENCE_RNN", "INSTANCE_NORMALIZATION", "L2_POOL_2D", "ROI_ALIGN", "ROI_POOLING"}
# LiteRT's LOG is 2e-7 off near 1, where the result is small.
LESS_EXACT = {("exceptional.case", "xlog1py_small"): 1e-2}
# What the Interpreter of TensorFlow Lite 2.13 can't run, and LiteRT can: XNNPACK gives up, without a reason.
NOT_IN_INTERPRETER = {("gru.case", "without_biases")}
SKIPPED = 77  # ctest's code for a test that was not run


def jobs_of(cases):
    jobs = []
    for case in cases:
        samples = [{"in": each["in"], "out": [name + ".found" for name in each["out"]]} for each in case["samples"]]
        jobs.append({"model": case["model"], "samples": samples})
    return jobs


def problem_of(case, report):
    if "error" in report:
        return report["error"]
    tolerance = 1e-4 if DECOMPOSED & set(case["operations"]) else 1e-5
    tolerance = LESS_EXACT.get((Path(case["file"]).name, case["case"]), tolerance)
    for sample in case["samples"]:
        for name, tensor in zip(sample["out"], report["outputs"]):
            expected = litert.read(name, tensor["type"])
            text = litert.difference(expected, litert.read(name + ".found", tensor["type"]), tolerance)
            if text:
                return f"{Path(name).name}: {text}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("op_cases")
    parser.add_argument("paths", nargs="*", default=[str(litert.ROOT / "testdata/ops")])
    parser.add_argument("--every", default="1")
    parser.add_argument("--interpreter", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if litert.missing():
        print("not run: " + litert.missing())
        return SKIPPED
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.keep or temporary)
        subprocess.run([arguments.op_cases, "--litert", str(folder), "--every", arguments.every, "--only", arguments.only,
                        *arguments.paths], check=True)
        cases = [json.loads(line) for line in (folder / "jobs.jsonl").read_text().splitlines()]
        written = [case for case in cases if "model" in case and not (
            arguments.interpreter and (Path(case["file"]).name, case["case"]) in NOT_IN_INTERPRETER)]
        failures = [case for case in cases if "failed" in case]
        reports = litert.run(jobs_of(written), folder, arguments.interpreter)
        problems = [(case, problem_of(case, report)) for case, report in zip(written, reports)]
    wrong = [(case, text) for case, text in problems if text]
    for case, text in wrong:
        print(f"FAILED {case['file']} {case['case']}: {text}")
    for case in failures:
        print(f"FAILED {case['file']} {case['case']}: {case['failed']}")
    refused = [case for case in cases if "refused" in case]
    if arguments.list:
        for case in refused:
            print(f"refused {case['file']} {case['case']}: {case['refused']}")
    accelerated = sum(bool(report.get("all_xnnpack")) for report in reports)
    print(f"{len(cases)} cases: {len(written) - len(wrong)} agree, {len(wrong) + len(failures)} wrong, "
          f"{len(refused)} refused; XNNPACK takes all of {accelerated}")
    return 1 if wrong or failures or not written else 0


if __name__ == "__main__":
    sys.exit(main())
