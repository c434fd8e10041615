#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""remainder.py FOLDER [--only NAME] [--runs 9]: what a detector costs beside NNAPI: in libnnapi_shim without PyTorch, and in
TorchScript with libnnapi_shim_torch, of the same file in the same run.

FOLDER holds what `make_models.py FOLDER --group zoo_detection` wrote. Prints for each model the milliseconds of a call
outside of NNAPI (median), the time to load the file in times of its segments alone, once until NNAPI has compiled what
has fixed sizes ("load") and once without that ("open"), the peak memory of both processes, and the ratios. Both sides
use one thread and the host's NNAPI. Times are of the wall clock, less what NNAPI's own executions took: the machine has
to be idle. Memory is that of processes whose NNAPI computes nothing, as the host's has LibTorch in it: nnapi-probe
--bench, and Python with PyTorch. "-": the model doesn't bear such numbers."""

import argparse
import ctypes
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts/sweeps"))


class Profile(ctypes.Structure):
    """The head of nnapi_shim_profile."""
    _fields_ = [(name, ctypes.c_uint64) for name in ("build", "compile", "executions", "last", "total")] + [
        ("others", ctypes.c_uint8 * 1024)]


def torch_side(build, file, name, pictures):
    import torch
    import torchvision  # noqa: F401, registers the operators
    from shim_zoo import nested
    torch.set_num_threads(1)
    torch.ops.load_library(str(build / "lib/libnnapi_shim_torch.so"))
    module = torch.jit.load(str(file))
    segments = [each for each in module.modules() if hasattr(each, "nnapi_profile")]

    def nnapi_seconds():
        return sum(each.nnapi_profile()["total_execute_ns"] for each in segments) / 1e9

    def call(picture):
        with torch.inference_mode():
            module(*nested({name: torch.from_numpy(picture)}))

    return call, nnapi_seconds


def shim_side(build, file, name, pictures):
    from shim_call import ShimModel
    model = ShimModel(str(build / "lib/libnnapi_shim.so"), str(file))

    def nnapi_seconds():
        profile = Profile()
        model.library.nnapi_shim_get_profile(model.handle, ctypes.byref(profile))
        return profile.total / 1e9

    return lambda picture: model.run("forward", {name: picture}), nnapi_seconds


def measure(side, build, file, name, pictures, runs):
    """Runs in a process of its own."""
    import numpy
    stored = numpy.load(pictures)
    call, nnapi_seconds = (torch_side if side == "torch" else shim_side)(build, file, name, pictures)
    for picture in stored:  # compiles, and allocates what later calls use again
        call(picture)
    times = []
    for _ in range(runs):
        for picture in stored:
            before, begin = nnapi_seconds(), time.perf_counter()
            call(picture)
            times.append(time.perf_counter() - begin - (nnapi_seconds() - before))
    peak, = re.findall(r"VmHWM:\s*(\d+)", pathlib.Path("/proc/self/status").read_text())
    print(json.dumps({"milliseconds": 1e3 * statistics.median(times)}), f"{int(peak) / 1024:.1f} MB at most", sep="\n")


def environment(nnapi):
    return {"LD_LIBRARY_PATH": str(nnapi), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}


def run(command, build):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env=environment(build / "lib/host"))
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return done.stdout


def peak_megabytes(command, build, work):
    """Without what NNAPI itself takes; None if the command fails."""
    library = work / "libneuralnetworks.so"
    if not library.exists():
        library.symlink_to(build / "lib/fake_nnapi/libnull_nnapi.so")
    done = subprocess.run([str(word) for word in command], env=environment(work), capture_output=True, text=True)
    found = re.search(r"([0-9.]+) MB at most", done.stdout)
    return float(found.group(1)) if done.returncode == 0 and found else None


def columns(shim, torch, digits):
    if shim is None or torch is None:
        return "- | - | -"
    return f"{shim:.{digits}f} | {torch:.{digits}f} | {shim / torch:.2f}"


def compare(model, specs, arguments, work):
    import numpy
    from shim_zoo import image
    from zoo_parts import library_options
    (name, sizes), = specs
    out, pictures = work / "out.pt", work / "pictures.npy"
    spec = f"{name}={','.join(map(str, sizes))}"
    run([arguments.build / "bin/nnapi-convert", model, "--nhwc", "--runtime", "shim", "--input",
         spec, "--no-self-check", "-o", out, *library_options("detection")], arguments.build)
    numpy.save(pictures, numpy.stack([image(sizes, seed).numpy() for seed in range(3)]))
    def side(which, runs):
        return [sys.executable, __file__, "--side", which, out, name, pictures, "--runs", runs, "--build", arguments.build]

    times = [json.loads(run(side(which, arguments.runs), arguments.build).splitlines()[0])["milliseconds"]
             for which in ("shim", "torch")]
    load = json.loads(run([arguments.build / "bin/shim_load_time", out, arguments.runs], arguments.build))
    probe = [arguments.build / "bin/nnapi-probe", "--bench", out, "--input", spec, "--runs", "1"]
    peaks = [peak_megabytes(command, arguments.build, work) for command in (probe, side("torch", 1))]
    loads = [load[f"file_{what}_us"] / load[f"segments_{what}_us"] for what in ("ready", "open")]
    return f"| {model.stem} | {columns(*times, 2)} | {loads[0]:.2f} | {loads[1]:.2f} | {columns(*peaks, 0)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of models; with --side, a converted file")
    parser.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="models whose name has this text")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--side", choices=("torch", "shim"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    if arguments.side:
        return measure(arguments.side, arguments.build, arguments.folder, *arguments.rest, arguments.runs)
    from shim_zoo import named_models
    print("| model | shim, ms | TorchScript, ms | ratio | load | open | shim, MB | TorchScript, MB | ratio |\n"
          "|---|---|---|---|---|---|---|---|---|")
    for model, specs in named_models(arguments.folder).items():
        if arguments.only not in model.name or len(specs) != 1:
            continue
        with tempfile.TemporaryDirectory() as work:
            print(compare(model, specs, arguments, pathlib.Path(work)), flush=True)
    return None


if __name__ == "__main__":
    main()
