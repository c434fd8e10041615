#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs PyTorch's own database of operators and modules through the converter: each sample becomes a module whose
tensors are inputs of forward, is traced, converted whole (`--fallback none`) or, if that is refused, in parts, run by
PyTorch's own loader on the host's NNAPI, and compared with eager PyTorch. Seeded: two runs give the same table."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import operator_outcomes as outcomes
from operator_outcomes import Outcome

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTHING_LEFT = "nothing is left for NNAPI to run"
TIMEOUT = 60  # seconds for a conversion, and for a run

TITLE = """# PyTorch's own samples of its operators

What becomes of the samples in PyTorch's database of operators and modules (`op_db` and `module_db` of
`torch.testing._internal`, PyTorch 1.13.1): each is traced, converted, run by PyTorch's own loader on the host's NNAPI,
and compared with eager PyTorch: dtypes, shapes and integers exactly, floats within 1e-4 of their range, or at least as
near as eager PyTorch to what it gives with float64. Of an operator with more than {most} samples that differ in shapes
or arguments, {most} are taken, evenly spread.
`scripts/sweeps/operators.py --table docs/generated/operators.md` writes this page.

- **whole**: NNAPI runs all of it. **parts**: some computing operation of it; the rest stays on the CPU.
- **refused**: the converter refuses it, or leaves all that computes to the CPU, and says why.
- **inexpressible**: the same, for a reason that no rule can mend: NNAPI has no such numbers, sizes or algorithm.
- **untraced**: `torch.jit.trace` makes no module of it that gives the same results, without any conversion.
- **wrong**, **crash**, **hang**: faults.

An operator **agrees** if some sample of it agrees, whole or in parts, and all others are inexpressible.
"""


class Traced(NamedTuple):
    operator: str
    number: int
    text: str
    inputs: List[str]
    results: List[str]
    problem: str
    folder: pathlib.Path

    @property
    def key(self) -> str:
        return f"{self.folder.name}/{self.number}"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="REGEX", default="", help="operators whose name has a match")
    parser.add_argument("--tenth", type=int, choices=range(10), help="every tenth operator, from this one on")
    parser.add_argument("--samples", type=int, default=6, help="most samples of an operator; 0: all [6]")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time [2]")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE", help="write the page as Markdown")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the outcome of each sample")
    parser.add_argument("--check", type=pathlib.Path, metavar="FILE",
                        help="a table of an earlier run: exit with 1 if an operator is worse than there")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="work there and keep models and reports")
    parser.add_argument("--list", action="store_true", help="print the outcome of each sample that doesn't agree")
    parser.add_argument("--binary", type=pathlib.Path,
                        default=os.environ.get("NNAPI_CONVERT", ROOT / "build/release/bin/nnapi-convert"))
    return parser.parse_args()


class Worker:
    """Runs a process of operator_worker.py."""

    def __init__(self, binary: pathlib.Path):
        library = pathlib.Path(binary).resolve().parent.parent / "lib" / "host"
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        environment["LD_LIBRARY_PATH"] = os.environ.get("LD_LIBRARY_PATH") or str(library)
        command = ["/usr/bin/python3", str(ROOT / "scripts" / "sweeps" / "operator_worker.py")]
        self.process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.lines: "queue.Queue[str]" = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        if self.line(TIMEOUT) != {"ready": True}:
            raise RuntimeError("operator_worker.py doesn't start")

    def read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def line(self, timeout: float = TIMEOUT) -> Dict[str, Any]:
        """Returns the next answer; "crash" or "hang" if there is none."""
        try:
            text = self.lines.get(timeout=timeout)
        except queue.Empty:
            self.stop()
            return {"fault": "hang"}
        return json.loads(text) if text else {"fault": "crash"}

    def ask(self, **request) -> Iterator[Dict[str, Any]]:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        while True:
            answer = self.line()
            if "done" in answer:
                return
            yield answer
            if "fault" in answer:
                return

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


class Workers:
    """Keeps one worker for each thread, and starts a new one after a fault."""

    def __init__(self, binary: pathlib.Path):
        self.binary = binary
        self.of_thread = threading.local()
        self.all: List[Worker] = []

    def get(self) -> Worker:
        worker: Optional[Worker] = getattr(self.of_thread, "worker", None)
        if worker is None or worker.process.poll() is not None:
            worker = self.of_thread.worker = Worker(self.binary)
            self.all.append(worker)
        return worker

    def stop(self) -> None:
        for worker in self.all:
            worker.stop()


def trace(workers: Workers, name: str, folder: pathlib.Path, **options) -> List[Traced]:
    found: List[Traced] = []
    begin, count = 0, 1
    while begin < count:
        place: Dict[str, Any] = {"number": begin, "text": ""}
        for answer in workers.get().ask(do="trace", operator=name, folder=str(folder), begin=begin, **options):
            count = answer.get("samples", count)
            if "number" in answer:
                place = answer
            elif "samples" not in answer:
                fault = answer.get("fault")
                problem = f"the original doesn't trace: {fault}" if fault else answer.get("problem", "")
                found.append(Traced(name, place["number"], place["text"], answer.get("inputs", []),
                                    answer.get("results", []), problem, folder))
        begin = found[-1].number + 1 if found and found[-1].number >= begin else count
    return found


def input_spec(number: int, text: str) -> str:
    dtype, sizes = re.fullmatch(r"(\w+)\[(.*)\]", text).groups()
    return f"x{number}={sizes.replace(' ', '') or 'scalar'}:{dtype}"


def convert(arguments: argparse.Namespace, work: pathlib.Path, name: str, samples: List[Traced], options: Dict) -> Dict:
    """Converts all samples in one batch; returns the report and the status of each."""
    if not samples:
        return {}
    models = []
    for sample in samples:
        specs = [input_spec(number, text) for number, text in enumerate(sample.inputs)]
        models.append({"model": f"{sample.folder}/{sample.number}.pt", "name": sample.key,
                       "options": {"input": specs, **options}})
    manifest = work / f"{name}.json"
    manifest.write_text(json.dumps({"version": 1, "models": models}))
    out = work / name
    command = [str(arguments.binary), "batch", str(manifest), "-o", str(out), "--keep-going", "-q", "--nchw"]
    command += ["--jobs", str(arguments.jobs), "--timeout", str(TIMEOUT)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if not (out / "summary.json").exists():
        raise SystemExit(f"{' '.join(command)} fails:\n{done.stderr}")
    reports = {}
    for entry in json.loads((out / "summary.json").read_text())["models"]:
        report = out / f"{entry['name']}.report.json"
        reports[entry["name"]] = {**(json.loads(report.read_text()) if report.exists() else {}), "summary": entry}
    return reports


def reasons_of(report: Dict[str, Any]) -> List[str]:
    refusals = report.get("refusals") or []
    texts = [f"{each['op']}: {each['found']} found, {each['needed']} needed" for each in refusals]
    return texts or [report.get("error") or report["summary"].get("error") or report["summary"]["status"]]


def share_on_nnapi(report: Dict[str, Any]) -> float:
    steps = report.get("graph", {}).get("steps", [])
    counts = {True: 0, False: 0}
    for step in steps:
        nodes = [node for node in step["nodes"] if not node["op"].startswith("prim::")]
        counts[step["segment"] is not None] += len(nodes)
    return counts[True] / max(sum(counts.values()), 1)


def computes(report: Dict[str, Any]) -> bool:
    segments = report.get("partition", {}).get("segments")
    if segments is None:
        return True
    return any(set(segment["operations"]) - outcomes.MOVES for segment in segments)


def fault_of(report: Dict[str, Any]) -> str:
    return {"crashed": "crash", "internal_error": "crash", "timed_out": "hang"}.get(report["summary"]["status"], "")


class Run(NamedTuple):
    arguments: argparse.Namespace
    work: pathlib.Path
    workers: Workers
    pool: concurrent.futures.ThreadPoolExecutor

    def samples(self, names: List[str]) -> List[Traced]:
        def of_operator(place: Tuple[int, str]) -> List[Traced]:
            number, name = place
            folder = self.work / "traced" / f"{number:03}_{re.sub('[^A-Za-z0-9]+', '_', name).strip('_')}"
            return trace(self.workers, name, folder, most=self.arguments.samples)

        return [sample for found in self.pool.map(of_operator, enumerate(names)) for sample in found]

    def results(self, chosen: List[Traced], form: str) -> Dict[str, str]:
        """Returns the problem of each converted sample; an empty text if the sample agrees."""
        def files_of(sample: Traced) -> Tuple[str, str]:
            is_beside = sample.folder.parent.name == "beside" and form == "whole"
            place = self.work / (form + "_beside" if is_beside else form)
            return str(place / f"{sample.key}.pt"), f"{sample.folder}/{sample.number}.values"

        def of_chunk(chunk: List[Traced]) -> Dict[str, str]:
            found: Dict[str, str] = {}
            while len(found) < len(chunk):
                files = [files_of(each) for each in chunk[len(found) :]]
                for answer in self.workers.get().ask(do="run", files=files):
                    if "begins" not in answer:
                        found[chunk[len(found)].key] = answer.get("fault") or answer["problem"]
            return found

        chunks = [chosen[i : i + 50] for i in range(0, len(chosen), 50)]
        return {key: problem for found in self.pool.map(of_chunk, chunks) for key, problem in found.items()}

    def beside_another(self, samples: List[Traced]) -> List[Traced]:
        """Runs again, with an added operation, the samples for which no operation is left for NNAPI."""
        def of_operator(chosen: List[Traced]) -> List[Traced]:
            folder = self.work / "beside" / chosen[0].folder.name
            numbers = [each.number for each in chosen]
            options = {"most": self.arguments.samples, "numbers": numbers, "beside": True}
            return trace(self.workers, chosen[0].operator, folder, **options)

        groups: Dict[str, List[Traced]] = {}
        for each in samples:
            groups.setdefault(each.operator, []).append(each)
        made = [sample for found in self.pool.map(of_operator, groups.values()) for sample in found]
        return [sample for sample in made if not sample.problem]

    def judged(self, samples: List[Traced]) -> Dict[str, Outcome]:
        whole = convert(self.arguments, self.work, "whole", samples, {"fallback": "none"})
        empty = [each for each in samples if NOTHING_LEFT in whole[each.key].get("error", "")]
        again = {each.key: each for each in self.beside_another(empty)}
        whole.update(convert(self.arguments, self.work, "whole_beside", list(again.values()), {"fallback": "none"}))
        return self.judged_as_converted([again.get(each.key, each) for each in samples], whole)

    def judged_as_converted(self, samples: List[Traced], whole: Dict) -> Dict[str, Outcome]:
        found: Dict[str, Outcome] = {}
        refused = [each for each in samples if not whole[each.key].get("converted") and not fault_of(whole[each.key])]
        parts = convert(self.arguments, self.work, "parts", refused, {"fallback": "partition", "min-segment-macs": 0})
        for form, reports in (("whole", whole), ("parts", parts)):
            chosen = [each for each in samples if each.key in reports and reports[each.key].get("converted")]
            problems = self.results(chosen, form)
            for each in samples:
                if each.key in reports:
                    found[each.key] = judge(each, form, reports[each.key], whole[each.key], problems.get(each.key, ""))
        return found


def judge(sample: Traced, form: str, report: Dict, whole: Dict, problem: str) -> Outcome:
    def outcome(kind: str, reason: str = "", share: Optional[float] = None) -> Outcome:
        return Outcome(sample.operator, sample.number, sample.text, kind, reason, share)

    if fault_of(report):
        return outcome(fault_of(report), "\n".join(reasons_of(report)))
    if problem.startswith(outcomes.OF_NAN):
        return outcome("inexpressible", outcomes.OF_NAN)
    if problem:
        return outcome(problem if problem in ("crash", "hang") else "wrong", f"{form}: {problem}")
    if report.get("converted") and form == "whole":
        return outcome("whole", "", 1.0)
    reasons = reasons_of(whole)
    if report.get("converted") and computes(report):
        return outcome("parts", reasons[0], share_on_nnapi(report))
    beyond = outcomes.inexpressible(reasons, [*sample.inputs, *sample.results])
    return outcome("inexpressible", beyond) if beyond else outcome("refused", reasons[0])


def untraced(sample: Traced) -> Outcome:
    beyond = outcomes.inexpressible([sample.problem], [*sample.inputs, *sample.results])
    kind = "inexpressible" if beyond else "untraced"
    return Outcome(sample.operator, sample.number, sample.text, kind, beyond or sample.problem)


def operator_names(arguments: argparse.Namespace) -> List[str]:
    script = "import operator_samples, json; print(json.dumps(list(operator_samples.operators())))"
    done = subprocess.run(["/usr/bin/python3", "-c", script], cwd=ROOT / "scripts/sweeps", stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    names = json.loads(done.stdout.splitlines()[-1])
    if arguments.tenth is not None:
        names = names[arguments.tenth :: 10]
    return [name for name in names if re.search(arguments.only, name)]


def outcomes_of(arguments: argparse.Namespace, work: pathlib.Path) -> List[Outcome]:
    workers = Workers(arguments.binary)
    try:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            run = Run(arguments, work, workers, pool)
            samples = run.samples(operator_names(arguments))
            judged = run.judged([each for each in samples if not each.problem])
            return [untraced(each) if each.problem else judged[each.key] for each in samples]
    finally:
        workers.stop()


def report_on(arguments: argparse.Namespace, found: List[Outcome]) -> int:
    operators = outcomes.by_operator(found)
    if arguments.json:
        arguments.json.write_text(outcomes.to_json(found))
    if arguments.list:
        for each in found:
            if each.outcome != "whole":
                print(f"{each.outcome}: {each.operator} [{each.number}] {each.text}: {each.reason}")
    summary = outcomes.summary(operators)
    if arguments.table:
        title = TITLE.format(most=arguments.samples)
        arguments.table.write_text("\n".join([title, *summary, "", *outcomes.rows(operators)]) + "\n")
    print("\n".join(summary))
    faults = [f"{each.outcome}: {each.operator} [{each.number}] {each.text}: {each.reason}" for each in found
              if each.outcome in outcomes.FAULTS]
    problems = outcomes.worse(operators, arguments.check) if arguments.check else faults
    print("\n".join([*faults, *(problems if arguments.check else [])]), file=sys.stderr)
    return 1 if problems else 0


def main() -> int:
    arguments = parse_arguments()
    if arguments.keep and arguments.keep.exists() and any(arguments.keep.iterdir()):
        raise SystemExit(f"--keep: {arguments.keep} is not empty; name a new folder")
    work = arguments.keep or pathlib.Path(tempfile.mkdtemp(prefix="nnapi-convert-operators-"))
    try:
        work.mkdir(parents=True, exist_ok=True)
        return report_on(arguments, outcomes_of(arguments, work.resolve()))
    finally:
        if not arguments.keep:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
